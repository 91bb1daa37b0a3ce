import * as fc from "fast-check";
import { expect, test } from "vitest";
import { type Key, keyDecoder, PASTE_LIMIT } from "./key-decoder.ts";

/** Everything decoded from these chunks, neighbouring text joined, with a flush at the end. */
function decode(...chunks: string[]): Key[] {
  const decoder = keyDecoder();
  const keys: Key[] = [];
  for (const key of [...chunks.flatMap((chunk) => decoder.push(chunk)), ...decoder.flush()]) {
    const last = keys.at(-1);
    if (key.type === "text" && last?.type === "text")
      keys[keys.length - 1] = { type: "text", text: last.text + key.text };
    else keys.push(key);
  }
  return keys;
}

test("plain typing", () => {
  expect(decode("héllo 🙂\r")).toEqual([{ type: "text", text: "héllo 🙂" }, { type: "enter" }]);
  expect(decode("\x03\x04\x7f\x15\x00\x01")).toEqual([
    { type: "interrupt" },
    { type: "end-of-input" },
    { type: "backspace" },
    { type: "kill-line" },
  ]);
});

test("a paste is one key whatever it contains, and Enter after it is Enter", () => {
  const keys: Key[] = [{ type: "paste", text: "one\ntwo\nthree\x03\x1b[A", cut: false }, { type: "enter" }];
  const input = "\x1b[200~one\r\ntwo\rthree\x03\x1b[A\x1b[201~\r";
  expect(decode(input)).toEqual(keys);
  expect(decode(...input.split(""))).toEqual(keys);
});

test("Esc is told from a sequence, and unknown sequences are swallowed", () => {
  expect(decode("\x1b")).toEqual([{ type: "escape" }]);
  expect(decode("\x1b\x1b[200~x\x1b[201~")).toEqual([{ type: "escape" }, { type: "paste", text: "x", cut: false }]);
  expect(decode("\x1bq")).toEqual([{ type: "escape" }, { type: "text", text: "q" }]);
  expect(decode("a\x1b[A\x1b[1;5C\x1bOPb")).toEqual([{ type: "text", text: "ab" }]);
  expect(decode("\x1b[200")).toEqual([]);
});

test("an endless paste is cut, not kept", () => {
  const decoder = keyDecoder();
  decoder.push("\x1b[200~");
  const chunk = "x".repeat(1024 * 1024);
  for (let index = 0; index < 10; index++) expect(decoder.push(chunk)).toEqual([]);
  const [key] = decoder.push("\x1b[201~");
  expect(key).toEqual({ type: "paste", text: "x".repeat(PASTE_LIMIT), cut: true });
});

test("where the input is cut makes no difference", () => {
  const piece = fc.constantFrom(
    "a",
    "é🙂",
    "\r",
    "\n",
    "\x1b[200~",
    "\x1b[201~",
    "\x1b[",
    "\x1b[A",
    "\x1bO",
    "\x03",
    "\x7f",
    "\x9b",
    "0",
    ";",
    "~",
  );
  fc.assert(
    fc.property(fc.array(piece), fc.array(fc.nat(8)), (pieces, cuts) => {
      const input = pieces.join("");
      const chunks: string[] = [];
      let from = 0;
      for (const cut of cuts) chunks.push(input.slice(from, (from += cut)));
      expect(decode(...chunks, input.slice(from))).toEqual(decode(input));
    }),
    { numRuns: 500 },
  );
});

test("noise ends in no endless loop and no exception", () => {
  fc.assert(
    fc.property(fc.array(fc.string({ unit: "binary" })), (chunks) => {
      decode(...chunks);
      decode("\x1b[", "1".repeat(500), ...chunks);
    }),
  );
});
