/** Secrets in terminal output, with sequences anywhere between, cut anywhere: nothing of them is left, and all else is. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { stripControls } from "../platform/terminal-text.ts";
import { createRedactor, REDACTED } from "./redaction.ts";
import { createTerminalRedaction, type Released } from "./terminal-redaction.ts";

const TOKEN = "tok3n-5up3r-s3cr3t-v4lu3-0123456789";
const SHAPED = `ghp_${"a1B2c3D4".repeat(5)}`;

function run(chunks: readonly string[], secrets: readonly string[] = [TOKEN]): readonly Released<string>[] {
  const redaction = createTerminalRedaction<string>(() => createRedactor(secrets));
  const released = chunks.flatMap((chunk, at) => {
    redaction.push(chunk, at);
    return redaction.release();
  });
  return [...released, ...redaction.end()];
}
const textOf = (released: readonly Released<string>[]): string =>
  released.map((piece) => (piece.type === "text" ? piece.text : "")).join("");

describe.each([
  ["a known value", TOKEN],
  ["a token by its form", SHAPED],
])("%s", (_what, secret) => {
  test.each([
    ["nothing", ""],
    ["a colour", "\u001b[38;5;208m"],
    ["a movement to a place", "\u001b[5;10H"],
    ["a title", "\u001b]0;busy\u0007"],
    ["a character of no width", "\u200b"],
    ["a reset of the colour and a carriage return", "\u001b[0m\r"],
  ])("is found, with %s between any two of its characters, cut anywhere", (_how, between) => {
    for (let at = 1; at < secret.length; at += 1) {
      const whole = `is: ${secret.slice(0, at)}${between}${secret.slice(at)} and\u001b[1m on`;
      for (let cut = 4; cut < 5 + secret.length + between.length; cut += between === "" ? 1 : 5) {
        const out = textOf(run([whole.slice(0, cut), whole.slice(cut)], secret === TOKEN ? [TOKEN] : []));
        expect(out).toBe(`is: ${REDACTED}${between} and\u001b[1m on`);
      }
    }
  });

  test("is found with a sequence after each of its characters, which come one by one", () => {
    const drawn = Array.from(secret, (character, index) => `\u001b[7;${index + 1}H${character}\u001b[m`);
    const out = textOf(run(["\u001b[2J", ...drawn, "\u001b[8;1H end"], secret === TOKEN ? [TOKEN] : []));
    expect(stripControls(out)).toBe(`${REDACTED} end`);
    expect(out.match(/\u001b\[7;/g)).toHaveLength(secret.length);
  });

  test("is found in a frame whose lines are drawn by movements", () => {
    for (let at = Math.ceil(secret.length / 2); at < secret.length - 4; at += 1) {
      const drawn = `\u001b[3;1H│ key ${secret.slice(0, at)} │\u001b[4;1H│ ${secret.slice(at)}   │\u001b[5;1H└──┘`;
      const out = stripControls(textOf(run([drawn], secret === TOKEN ? [TOKEN] : [])));
      for (let from = 0; from + 8 <= secret.length; from += 1) expect(out).not.toContain(secret.slice(from, from + 8));
      expect(out).toContain("│ key ");
    }
  });

  test("is found after a gap that was skipped and not written", () => {
    for (const gap of ["\u001b[1C", "\u001b[9G", "\u001b[4;4H", "\r", "\b"])
      expect(textOf(run([`token${gap}${secret} x`], secret === TOKEN ? [TOKEN] : []))).toBe(`token${gap}${REDACTED} x`);
  });

  test("is found in what a sequence says", () => {
    const secrets = secret === TOKEN ? [TOKEN] : [];
    for (const [begin, end] of [
      ["\u001b]0;", "\u0007"],
      ["\u001b]8;;http://x/", "\u001b\\"],
      ["\u001bP", "\u001b\\"],
      ["\u001b_", "\u001b\\"],
      ["\u009d2;", "\u009c"],
    ] as const)
      for (let cut = 1; cut < secret.length; cut += 3)
        expect(textOf(run([`a${begin}${secret.slice(0, cut)}`, `${secret.slice(cut)}${end}b`], secrets))).toBe(
          `a${begin}${REDACTED}${end}b`,
        );
  });
});

test("what sets the clipboard is left out", () => {
  expect(textOf(run([`a\u001b]52;c;${Buffer.from(TOKEN).toString("base64")}\u0007b`]))).toBe("ab");
  expect(textOf(run(["a\u001bPtmux;\u001b\u001b]52;c;", "eA==\u0007\u001b\\b"]))).not.toContain("eA==");
});

test("what was held back keeps its time, and what was inserted its place", () => {
  const redaction = createTerminalRedaction<string>(() => createRedactor([TOKEN]));
  redaction.push("> tok", 100);
  expect(redaction.release()).toEqual([{ at: 100, type: "text", text: "> " }]);
  redaction.insert("80x24", 200);
  redaction.push("\u001b[1mary", 9_000);
  expect(redaction.release()).toEqual([
    { at: 100, type: "text", text: "tok" },
    { at: 200, type: "note", note: "80x24" },
    { at: 9_000, type: "text", text: "\u001b[1mary" },
  ]);
});

test("a key that is typed slowly, with a repainted line after each character, is found", () => {
  const chunks = Array.from(TOKEN, (character) => `${character}\u001b[K`);
  expect(stripControls(textOf(run(["password: ", ...chunks, "\r\nok"])))).toBe(`password: ${REDACTED}\nok`);
});

test("a beginning that nothing follows but sequences is not held back for ever", () => {
  const redaction = createTerminalRedaction<string>(() => createRedactor([TOKEN]));
  redaction.push("> tok", 0);
  const parts: Released<string>[] = [...redaction.release()];
  for (let round = 1; round < 100; round += 1) {
    redaction.push("\u001b[5m".repeat(1_000), round);
    parts.push(...redaction.release());
  }
  expect(textOf(parts)).toContain("> tok\u001b[5m");
});

test("without secrets nothing is different, whatever it is made of and however it is cut", () => {
  const parts = [
    "a",
    "漢",
    " ",
    "│",
    "\n",
    "\r",
    "\r\n",
    "\t",
    "\u001b[1m",
    "\u001b[3;4H",
    "\u001b[2C",
    "sk-",
    "gh",
    "://",
    "\u200b",
    "\u001b]0;t\u0007",
    "tok",
  ];
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...parts), { maxLength: 60 }), fc.array(fc.nat(100)), (list, cuts) => {
      const whole = list.join("");
      const chunks: string[] = [];
      let rest = whole;
      for (const cut of cuts) {
        chunks.push(rest.slice(0, cut));
        rest = rest.slice(cut);
      }
      const released = run([...chunks, rest]);
      expect(textOf(released)).toBe(whole);
      const times = released.map(({ at }) => at);
      expect(times).toEqual(times.toSorted((one, other) => one - other));
    }),
    { numRuns: 500 },
  );
});

test("of a token among anything nothing is left that is half of it, and all sequences are", () => {
  const parts = ["a ", "\n", "\r\n", "│ ", "\u001b[1m", "\u001b[3;4H", "\u001b[2C", " ", "\u200b"];
  const some = fc.array(fc.constantFrom(...parts), { maxLength: 6 }).map((list) => list.join(""));
  const between = fc.array(
    fc.tuple(fc.nat(TOKEN.length), fc.constantFrom("\u001b[1m", "\u001b[4;2H", "\u001b[m", "\u200b")),
    { maxLength: 5 },
  );
  fc.assert(
    fc.property(some, between, some, fc.array(fc.nat(20)), (before, inserts, after, cuts) => {
      let drawn = "";
      for (let at = 0; at <= TOKEN.length; at += 1)
        drawn +=
          inserts
            .filter(([place]) => place === at)
            .map(([, text]) => text)
            .join("") + (TOKEN[at] ?? "");
      const whole = `${before} ${drawn} ${after}`;
      const chunks: string[] = [];
      let rest = whole;
      for (const cut of cuts) {
        chunks.push(rest.slice(0, cut));
        rest = rest.slice(cut);
      }
      const out = textOf(run([...chunks, rest]));
      const shown = stripControls(out).replaceAll(/[\u200b\s│]/g, "");
      for (let from = 0; from + 17 <= TOKEN.length; from += 1)
        expect(shown).not.toContain(TOKEN.slice(from, from + 17));
      expect(out.split("\u001b")).toHaveLength(whole.split("\u001b").length);
    }),
    { numRuns: 500 },
  );
});
