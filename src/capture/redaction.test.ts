import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createRedactor, REDACTED, redact } from "./redaction.ts";

const TOKEN = "tok3n-5up3r-s3cr3t-v4lu3-0123456789";

test("known values are replaced, the longest first", () => {
  expect(redact("a secret-long and a secret", ["secret", "secret-long"])).toBe(`a ${REDACTED} and a ${REDACTED}`);
});

test("text that begins no secret is not held back", () => {
  expect(createRedactor(["hunter2-hunter2"]).push("all is well\n")).toBe("all is well\n");
});

describe("issue 7, 19: a secret that is wrapped", () => {
  test.each([
    ["at the terminal's edge", (a: string, b: string) => `${a}\n${b}`],
    ["in a frame", (a: string, b: string) => `│ ${a}   │\n│ ${b}  │`],
    ["with an indentation", (a: string, b: string) => `  ${a}\n      ${b}`],
    ["with blanks at the end", (a: string, b: string) => `${a}    \n${b}`],
  ])("%s is found, wherever the break is", (_how, wrap) => {
    for (let at = 1; at < TOKEN.length; at += 1) {
      const text = `before\n${wrap(`token ${TOKEN.slice(0, at)}`, `${TOKEN.slice(at)} and more`)}\nafter`;
      const safe = redact(text, [TOKEN]);
      expect(safe.match(/\[redacted\]/g)).toHaveLength(1);
      expect(safe.split("\n")).toHaveLength(text.split("\n").length);
      for (const rest of ["before", "after", "token", "and more"]) expect(safe).toContain(rest);
      expect(containsPiece(safe, TOKEN, 6)).toBe(false);
    }
  });

  test("is found over three lines, and one with lines of its own", () => {
    expect(redact(`${TOKEN.slice(0, 10)}\n${TOKEN.slice(10, 20)}\n${TOKEN.slice(20)}!`, [TOKEN])).toBe(
      `${REDACTED}\n\n!`,
    );
    const lines = "first line of it\nsecond line of it";
    expect(redact(`x first line of it\n  second line of it y`, [lines])).toBe(`x ${REDACTED}\n   y`);
  });

  test("is hidden where only half of it is in sight", () => {
    expect(redact(`${TOKEN.slice(12)} rest of a line that began above`, [TOKEN])).toBe(
      `${REDACTED} rest of a line that began above`,
    );
    expect(redact(`key ${TOKEN.slice(0, 20)}…`, [TOKEN])).toBe(`key ${REDACTED}…`);
    expect(redact(`key ${TOKEN.slice(0, 5)}…`, [TOKEN])).toBe(`key ${TOKEN.slice(0, 5)}…`);
  });

  test("half of a path or a URL is no secret", () => {
    expect(redact("/home/user/go/bin", ["/home/user/go/pkg/mod/cache"])).toBe("/home/user/go/bin");
  });
});

describe("issue 7, 19: what has the shape of a secret", () => {
  const shapes = {
    openai: "sk-proj-abcDEF0123456789abcDEF0123456789",
    anthropic: "sk-ant-api03-abcDEF0123456789_abcDEF0123456789-AA",
    github: `ghp_${"a1B2c3D4e5".repeat(4).slice(0, 36)}`,
    githubFine: `github_pat_${"11ABCDEFG0".repeat(4)}`,
    aws: "AKIAIOSFODNN7EXAMPLE",
    google: `AIza${"SyA1b2C3d4".repeat(4).slice(0, 35)}`,
    slack: "xoxb-123456789012-abcdefABCDEF",
    jwt: "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U",
  };

  test.each(Object.entries(shapes))("is found: %s", (_name, token) => {
    expect(redact(`export TOKEN=${token}; next`, [])).toBe(`export TOKEN=${REDACTED}; next`);
    expect(redact(`${token}\nnext line`, [])).toBe(`${REDACTED}\nnext line`);
    for (let at = 8; at < token.length - 5; at += 7)
      expect(containsPiece(redact(`$ ${token.slice(0, at)}\n${token.slice(at)} next`, []), token, 12)).toBe(false);
  });

  test("is found: private keys and passwords in URLs", () => {
    const key = "-----BEGIN RSA PRIVATE KEY-----\nMIIEow\nIBAAKC\n-----END RSA PRIVATE KEY-----";
    expect(redact(`a\n${key}\nb`, [])).toBe(`a\n${REDACTED}\n\n\n\nb`);
    expect(redact("postgres://app:s3cret@db:5432/x and https://example.org:8080/a@b", [])).toBe(
      `postgres://app:${REDACTED}@db:5432/x and https://example.org:8080/a@b`,
    );
    expect(redact("-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----", [])).toContain("MIIB");
  });

  test("ordinary words are not", () => {
    const text =
      "ask-me-anything task-list-of-many-words-in-a-row sk-short eyJust a word AKIA is a name, see http://a:b/c";
    expect(redact(text, [])).toBe(text);
  });

  test("is found however the output is cut", () => {
    const key = "-----BEGIN PRIVATE KEY-----\nMIIEow\n-----END PRIVATE KEY-----";
    const text = `x ${shapes.github} y\n${key}\nz ${shapes.jwt} postgres://u:hunter22@h/d end`;
    for (let size = 1; size < 40; size += 3) {
      const redactor = createRedactor([]);
      let out = "";
      for (let at = 0; at < text.length; at += size) out += redactor.push(text.slice(at, at + size));
      expect(out + redactor.flush()).toBe(redact(text, []));
    }
  });
});

test("cutting the text anywhere changes nothing, and no secret comes out", () => {
  const secrets = ["abcabd", "zzzz", "cab", TOKEN];
  const piece = fc.constantFrom(
    "abc",
    "abd",
    "zz",
    "cab",
    "x",
    "abcabd",
    "zzzz",
    " ",
    "\n",
    "│ ",
    TOKEN,
    `${TOKEN.slice(0, 9)}\n${TOKEN.slice(9)}`,
  );
  fc.assert(
    fc.property(fc.array(piece), fc.array(fc.nat(120)), (pieces, cuts) => {
      const text = pieces.join("");
      const redactor = createRedactor(secrets);
      let out = "";
      let from = 0;
      for (const cut of cuts.toSorted((a, b) => a - b)) {
        out += redactor.push(text.slice(from, cut));
        from = Math.max(from, cut);
      }
      out += redactor.push(text.slice(from)) + redactor.flush();
      for (const secret of ["abcabd", "zzzz", TOKEN]) expect(out).not.toContain(secret);
      expect(out.replaceAll(/[│ \n]/g, "")).not.toContain(TOKEN);
      expect(out.replaceAll(REDACTED, "").length).toBeLessThanOrEqual(text.length);
    }),
    { numRuns: 500 },
  );
});

test("the time grows with the text, whatever it is made of", () => {
  const secrets = [TOKEN, "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa1", "a".repeat(3_000)];
  for (const unit of [
    "a",
    " ",
    "\n",
    "a\n",
    "eyJ-",
    "eyJ.",
    "sk-",
    "://",
    "://a:",
    "-----BEGIN ",
    "-----BEGIN PRIVATE KEY-----",
    "│",
    "tok3n-5up3r-s3cr3t",
  ]) {
    const time = (size: number): number => {
      const text = unit.repeat(Math.ceil(size / unit.length));
      const since = process.cpuUsage();
      redact(text, secrets);
      const { user, system } = process.cpuUsage(since);
      return user + system;
    };
    const fastest = (size: number): number => Math.min(...Array.from({ length: 4 }, () => time(size)));
    expect([unit, fastest(400_000) / Math.max(fastest(100_000), 2_000) < 12]).toEqual([unit, true]);
  }
});

/** Whether so many characters of it in a row are there. */
function containsPiece(text: string, secret: string, length: number): boolean {
  return Array.from({ length: secret.length - length + 1 }, (_, at) => secret.slice(at, at + length)).some((piece) =>
    text.includes(piece),
  );
}
