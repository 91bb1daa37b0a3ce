import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createKeyDecoder } from "./key.ts";
import type { Key } from "./key.ts";

function decode(input: string): readonly Key[] {
  const decoder = createKeyDecoder();
  return [...decoder.push(input), ...decoder.flush()];
}

describe("the key decoder", () => {
  it.each([
    ["\u001B[A", "up"],
    ["\u001BOB", "down"],
    ["\u001B[1;5C", "right"],
    ["\u001B[5~", "page-up"],
    ["\u001B[3;2~", "delete"],
    ["\u001B[Z", "back-tab"],
    ["\t", "tab"],
    ["\r", "enter"],
    ["\u007F", "backspace"],
    ["\u0003", "interrupt"],
    ["\u001B", "escape"],
  ])("knows %j", (input, type) => {
    expect(decode(input)).toEqual([{ type }]);
  });

  it("keeps text whole, and drops sequences that mean nothing here", () => {
    expect(decode("añ漢\u001B[<0;1;1M\u001B[Mqxab\u001B[?62c")).toEqual([
      { type: "text", text: "añ漢" },
      { type: "text", text: "b" },
    ]);
  });

  it("takes Esc and what follows at once for two keys", () => {
    expect(decode("\u001Bq")).toEqual([{ type: "escape" }, { type: "text", text: "q" }]);
  });

  it("gives the same however the input is cut", () => {
    const piece = fc.constantFrom(
      "a",
      "\u001B[A",
      "\u001B[Mqxa",
      "\u001B[200~x\ry\u001B[201~",
      "\r",
      "\u001B[5~",
      "é",
      "\u001BOP",
    );
    fc.assert(
      fc.property(fc.array(piece), fc.array(fc.integer({ min: 1, max: 5 })), (pieces, sizes) => {
        const input = pieces.join("");
        const decoder = createKeyDecoder();
        const keys: Key[] = [];
        let at = 0;
        for (const size of [...sizes, input.length]) {
          keys.push(...decoder.push(input.slice(at, at + size)));
          at += size;
        }
        expect(joined(keys)).toEqual(joined(decode(input)));
      }),
      { numRuns: 300 },
    );
  });
});

/** Text that came in pieces is the same text. */
function joined(keys: readonly Key[]): readonly Key[] {
  return keys.reduce<Key[]>((all, key) => {
    const last = all.at(-1);
    if (key.type !== "text" || last?.type !== "text") return [...all, key];
    return [...all.slice(0, -1), { type: "text", text: last.text + key.text }];
  }, []);
}
