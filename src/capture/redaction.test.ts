import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createRedactor, REDACTED, redact } from "./redaction.ts";
import { createTagger } from "./secret-tag.ts";

const TOKEN = "tok3n-5up3r-s3cr3t-v4lu3-0123456789";

test("known values are replaced, the longest first", () => {
  expect(redact("a secret-long and a secret", ["secret", "secret-long"])).toBe(`a ${REDACTED} and a ${REDACTED}`);
});

test("text that begins no secret is not held back", () => {
  expect(createRedactor(["hunter2-hunter2"]).push("all is well\n")).toBe("all is well\n");
});

test("a token that is wrapped is found where the beginning of its line was let go before", () => {
  const token = `ghp_${"a1B2c3D4".repeat(5)}`;
  const redactor = createRedactor([]);
  const parts = [`the key is: ${token.slice(0, 22)}`, `\n  ${token.slice(22)}`, " and on"];
  expect(parts.map((part) => redactor.push(part)).join("") + redactor.flush()).toBe(
    `the key is: ${REDACTED}\n   and on`,
  );
});

describe("a secret that is wrapped", () => {
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

  test("is found where the break is at a blank of its own, and where it is shown as JSON", () => {
    const phrase = "correct horse battery staple";
    expect(redact("it is correct horse\nbattery staple, really", [phrase])).toBe(`it is ${REDACTED}\n, really`);
    expect(redact("│ it is correct    │\n│ horse battery    │\n│ staple, really   │", [phrase])).toBe(
      `│ it is ${REDACTED}    │\n│     │\n│ , really   │`,
    );
    const redactor = createRedactor([phrase]);
    const out = ["it is correct\n", "horse\nbattery", " staple!"].map((text) => redactor.push(text)).join("");
    expect(out + redactor.flush()).toBe(`it is ${REDACTED}\n\n!`);
    const padded = createRedactor([TOKEN]);
    const parts = [`${TOKEN.slice(0, 9)} `, " ", " │", "\n│ ", TOKEN.slice(9), " end"];
    expect(parts.map((part) => padded.push(part)).join("") + padded.flush()).toBe(`${REDACTED}   │\n│  end`);
    const awkward = 'p"ss\\w0rd\nline two of it';
    expect(redact(`{"content": ${JSON.stringify(`use ${awkward} now`)}}`, [awkward])).toBe(
      `{"content": "use ${REDACTED} now"}`,
    );
  });

  test("is hidden where a title was cut in the middle of it", () => {
    expect(redact(`Run: curl -H ${TOKEN.slice(0, 10)}…`, [TOKEN])).toBe(`Run: curl -H ${REDACTED}…`);
    expect(redact(`Run: curl -H ${TOKEN.slice(0, 10)}`, [TOKEN])).toBe(`Run: curl -H ${REDACTED}`);
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

describe("what has the shape of a secret", () => {
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
    // As a terminal wraps: what is behind the edge goes to the next line.
    for (let before = Math.max(0, 81 - token.length); before < 80; before += 3)
      for (const [left, right] of [
        ["", ""],
        ["│ ", " │"],
      ]) {
        const line = `${"- ".repeat(80).slice(0, before)}${token} next`;
        const lines = [line.slice(0, 80), line.slice(80, 160), line.slice(160)].map((part) => `${left}${part}${right}`);
        expect(containsPiece(redact(lines.join("\n"), []), token, 12)).toBe(false);
      }
  });

  test("is found: private keys and passwords in URLs", () => {
    const key = "-----BEGIN RSA PRIVATE KEY-----\nMIIEow\nIBAAKC\n-----END RSA PRIVATE KEY-----";
    expect(redact(`a\n${key}\nb`, [])).toBe(`a\n${REDACTED}\n\n\n\nb`);
    expect(redact("postgres://app:s3cret@db:5432/x and https://example.org:8080/a@b", [])).toBe(
      `postgres://app:${REDACTED}@db:5432/x and https://example.org:8080/a@b`,
    );
    expect(redact("-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----", [])).toContain("MIIB");
  });

  test.each([
    ["at the beginning of a line, whatever the line before ends with", "$ cat token\n", shapes.openai],
    ["in the middle of a word", "TOKEN", shapes.github],
    ["behind what only begins like one", "eyJ.x-", shapes.github],
    ["after a line break as JSON writes it", "first line\\n", shapes.openai],
    ["after a colour as JSON writes it", "\\u001b[32m", shapes.anthropic],
    ["after a percent-encoded sign", "?key%3D", shapes.google],
  ])("is found %s", (_where, before, token) => {
    expect(redact(`"${before}${token}" next`, [])).toBe(`"${before}${REDACTED}" next`);
  });

  test("is found: a key with numbered lines, one in JSON, one that is encrypted, one whose end is out of sight", () => {
    const line = "MIIEowIBAAKCAQEAabcdefghijklmnopqrstuvwxyz0123456789";
    const [begin, end] = ["-----BEGIN RSA PRIVATE KEY-----", "-----END RSA PRIVATE KEY-----"];
    for (const key of [
      `  1 │ ${begin}\n  2 │ ${line}\n  3 │ ${line}\n  4 │ ${end}`,
      `"${begin}\\n${line}\\n${line}\\n${end}\\n"`,
      `${begin}\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,0123456789ABCDEF\n\n${line}\n${end}`,
      `${begin}\n${line}\n${line}`,
      `-----BEGIN PUBLIC KEY-----\nMIIB\n-----END PUBLIC KEY-----\n${begin}\n${line.slice(0, 40)}\n${end}`,
    ]) {
      expect(containsPiece(redact(`a ${key}\nb`, []), line, 12)).toBe(false);
      for (const size of [1, 7, 50]) {
        const redactor = createRedactor([]);
        let out = "";
        for (let at = 0; at < key.length; at += size) out += redactor.push(key.slice(at, at + size));
        expect(containsPiece(out + redactor.flush(), line, 12)).toBe(false);
      }
    }
  });

  test("a commit on the line after one stays readable", () => {
    for (const token of [shapes.openai, shapes.github, shapes.slack])
      expect(
        redact(`$ echo ${token}\n7b168c3 The test's waiter goes home when a death is only told again (HEAD)`, []),
      ).toBe(`$ echo ${REDACTED}\n7b168c3 The test's waiter goes home when a death is only told again (HEAD)`);
  });

  test("what only mentions a key hides nothing of what follows", () => {
    for (const text of [
      "grep -r -- '-----BEGIN RSA PRIVATE KEY-----' . ; rm -rf build",
      "echo -----BEGIN PRIVATE KEY----- && rm -rf build # -----END PRIVATE KEY-----",
      "it begins with -----BEGIN PRIVATE KEY-----\nand goes on with base64",
    ])
      expect(redact(text, [])).toBe(text);
  });

  test("is found: a password with an @ in it, and one in a URL that is wrapped", () => {
    expect(redact("postgres://app:p@ss@w0rd@db:5432/x", [])).toBe(`postgres://app:${REDACTED}@db:5432/x`);
    expect(redact("redis://:hunter22@cache:6379", [])).toBe(`redis://:${REDACTED}@cache:6379`);
    expect(redact("│ postgres://app:hun │\n│ ter22@db:5432/x   │", [])).toBe(
      `│ postgres://app:${REDACTED} │\n│ @db:5432/x   │`,
    );
    expect(redact("to the database postgres://ap\np:hunter22@db:5432/x", [])).toBe(
      `to the database postgres://ap\np:${REDACTED}@db:5432/x`,
    );
  });

  test("what is ordinary is not", () => {
    for (const text of [
      "ask-me-anything task-list-of-many-words-in-a-row sk-short eyJust a word AKIA is a name, see http://a:b/c",
      "commit 7b168c3f0d1e2a4b5c6d7e8f9a0b1c2d3e4f5a6b (origin/main)",
      "installed sk-learn\n7b168c3f0d1e2a4b5c6d7e8f9a0b1c2d3e4f5a6b is the commit",
      "session 0199f3c2-7e4a-7bb1-8a53-1c2d3e4f5a6b resumed",
      '"integrity": "sha512-v2kDEe57lecTulaDIuNTPy3Ry4gLGJ6Z1O3vE1krgXZNrsQ+LFTGHVxVjcXPs17LhbZVGedAJv8XZ1tvj5FvSg=="',
      "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
      "/home/user/.cache/node_modules/@scope/package/dist/index-4f9a1c2b.js",
      "npm_package_devDependencies__types_react_test_renderer=1 hf_hub_download_with_progress_bars_enabled",
      ".sk-circle-fade-dot.sk-folding-cube-animation-delay { }",
      "ASIA-PACIFIC-HEADQUARTERS-2026 AKIA-IS-NO-KEY-BY-ITSELF-1",
      "ready on http://localhost:3000\nalice@laptop:~/project$ git status",
      "see https://example.org\nalice@laptop:~/project$",
      '{"url":"http://localhost:3000\\nbob@example.org"}',
      "git@github.com:owner/repository.git ssh://git@github.com:22/owner/repository.git",
      "python -m pip download pypi-simple-index-server-for-everyone-to-use",
    ])
      expect(redact(text, [TOKEN])).toBe(text);
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

test("wrapped anywhere and cut anywhere, between whatever else, nothing of it comes out", () => {
  const phrase = "correct horse battery staple";
  const shaped = `ghp_${"a1B2c3D4e5".repeat(4).slice(0, 36)}`;
  const wrapped = fc
    .tuple(fc.constantFrom(TOKEN, phrase, "ab|cd|ef|gh12"), fc.nat(40), fc.constantFrom("", "\n", " │\n│ ", "  \n  "))
    .map(([secret, at, wrap]) => `${secret.slice(0, at)}${wrap}${secret.slice(at)}`);
  const between = fc.constantFrom(shaped, "", " ", "\n", "x", "-", "://u:", "@", "sk-", "eyJ", "│\n");
  fc.assert(
    fc.property(fc.array(fc.tuple(wrapped, between)), fc.array(fc.integer({ min: 1, max: 60 })), (pieces, sizes) => {
      const text = pieces.flat().join("");
      const redactor = createRedactor([TOKEN, phrase, "ab|cd|ef|gh12"]);
      let [out, from] = ["", 0];
      for (const size of sizes) {
        out += redactor.push(text.slice(from, from + size));
        from += size;
      }
      out += redactor.push(text.slice(from)) + redactor.flush();
      const solid = out.replaceAll(/[│| \n]/g, "");
      for (const secret of [TOKEN, "correcthorsebatterystaple", shaped, "abcdefgh12"])
        expect(solid).not.toContain(secret);
    }),
    { numRuns: 1_000 },
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

test("what is held back is bounded, whatever is printed, and no secret comes out of it", () => {
  const periodic = `${"a".repeat(32)}1`;
  for (const [unit, size] of [
    [TOKEN, TOKEN.length * 100],
    ["a", 3_500],
    [`${TOKEN}\n`, (TOKEN.length + 1) * 100],
    ["sk-a1", 4_000],
    ["-----BEGIN PRIVATE KEY-----", 4_000],
    [`postgres://u:${TOKEN}@h `, 4_001],
  ] as const) {
    const redactor = createRedactor([TOKEN, periodic]);
    // The text always ends in the middle of the unit.
    const text = unit.repeat(Math.ceil(200_000 / unit.length));
    let written = redactor.push(text.slice(0, 20));
    let given = 20;
    let pushesWithoutWord = 0;
    for (; given < text.length; given += size) {
      const out = redactor.push(text.slice(given, given + size));
      pushesWithoutWord = out === "" ? pushesWithoutWord + 1 : 0;
      expect([unit, pushesWithoutWord <= 6]).toEqual([unit, true]);
      written += out;
    }
    written += redactor.flush();
    expect(containsPiece(written, TOKEN, 8)).toBe(false);
  }
});

/** Whether so many characters of it in a row are there. */
function containsPiece(text: string, secret: string, length: number): boolean {
  return Array.from({ length: secret.length - length + 1 }, (_, at) => secret.slice(at, at + length)).some((piece) =>
    text.includes(piece),
  );
}

describe("secrets have names", () => {
  const tag = createTagger("a key of this home");
  const awkward = 'p"ss/w0rd & <ü>\\ten';

  test("the same one has the same name everywhere, another one another, and nobody who does not ask sees any", () => {
    const safe = redact(`${TOKEN} and other-secret-1 and ${TOKEN}`, [TOKEN, "other-secret-1"], { tag });
    expect(safe).toBe(`[redacted ${tag(TOKEN)}] and [redacted ${tag("other-secret-1")}] and [redacted ${tag(TOKEN)}]`);
    expect(tag(TOKEN)).toMatch(/^[0-9a-f]{6}$/);
    expect(createTagger("another key")(TOKEN)).not.toBe(tag(TOKEN));
    expect(redact(TOKEN, [TOKEN])).toBe(REDACTED);
  });

  test.each([
    ["as it is", awkward],
    ["in JSON", JSON.stringify(awkward).slice(1, -1)],
    ["in JSON in JSON", JSON.stringify(JSON.stringify(awkward)).slice(3, -3)],
    ["in JSON of another language", 'p\\"ss\\/w0rd & <ü>\\\\ten'],
    ["in JSON that HTML may hold", 'p\\"ss/w0rd \\u0026 \\u003cü\\u003e\\\\ten'],
    ["in JSON without umlauts", 'p\\"ss/w0rd & <\\u00fc>\\\\ten'],
    ["in a query", encodeURIComponent(awkward)],
    ["in a query, in small letters", encodeURIComponent(awkward).replaceAll(/%../g, (code) => code.toLowerCase())],
    ["in a form", encodeURIComponent(awkward).replaceAll("%20", "+")],
  ])("%s, cut anywhere, as text and as bytes, it has the name of the secret itself", (_how, form) => {
    for (const ofBytes of [false, true]) {
      const text = ofBytes ? Buffer.from(`x=${form}&y`).toString("latin1") : `x=${form}&y`;
      for (let at = 1; at < text.length; at += 1) {
        const redactor = createRedactor([awkward], ofBytes ? { tag, ofBytes } : { tag });
        const safe = redactor.push(text.slice(0, at)) + redactor.push(text.slice(at)) + redactor.flush();
        expect(safe).toBe(`x=[redacted ${tag(awkward)}]&y`);
      }
    }
  });

  test("a token known by its form and by its value has one name, also in halves", () => {
    const key = `sk-test-${"a1b2c3d4".repeat(5)}`;
    expect(redact(`key ${key}!`, [], { tag })).toBe(redact(`key ${key}!`, [key], { tag }));
    expect(redact(`… ${key.slice(20)} …`, [key], { tag })).toBe(`… [redacted ${tag(key)}] …`);
  });
});
