/** The picture of rooms, and the walk of one session counted over the code (what it must show, 1). */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { readProgram } from "../../script/call-graph.ts";
import { renderRooms, WALKS, walkOf, widestBag } from "../../script/import-graph.ts";

const SRC = join(import.meta.dirname, "..", "..", "src");

/** A caller, a contract with an implementation, a bag of parts, and a test that does not count. */
const TREE = {
  "surface/cli/main.ts": `import { sell } from "../../shop/shop.ts";
    import type { Till } from "../../store/contract.ts";
    export function main(till: Till): void { sell({ till, onSold: () => tell(), log: () => undefined }); }
    function tell(): void {}`,
  "shop/shop.ts": `import { round } from "../platform/number.ts";
    import type { Till } from "../store/contract.ts";
    interface Base { readonly log: () => void }
    interface Parts extends Base { readonly till: Till; readonly onSold: (n: number) => void }
    export function sell(parts: Parts): void { const { till } = parts; till.put(round(1)); parts.onSold(1); }`,
  "store/contract.ts": `export interface Till { put(amount: number): void; readonly amount: number }`,
  "store/till.ts": `import type { Till } from "./contract.ts";
    export function createTill(): Till { return { put: (amount) => write(amount), amount: 0 }; }
    function write(amount: number): void {}`,
  "platform/number.ts": `export function round(n: number): number { return n; }`,
  "shop/shop.test.ts": `import { createTill } from "../store/till.ts";\ncreateTill();`,
};

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "reeve-graph-"));
  for (const [path, text] of Object.entries(TREE)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
});
afterEach(() => rmSync(root, { recursive: true }));

describe("a small tree", () => {
  test("a walk goes through imports and through a contract to its implementation", () => {
    const way = [
      ["surface", "main.ts", "main"],
      ["store", "till.ts", "write"],
    ] as const;
    expect(walkOf(readProgram(root), [way])).toEqual({
      chain: ["surface/cli/main.ts#main", "shop/shop.ts#sell", "store/till.ts#put", "store/till.ts#write"],
      onThePath: ["surface/cli/main.ts", "shop/shop.ts", "store/till.ts"],
      beside: [],
    });
  });

  test("a callback is found where the bag is filled", () => {
    expect([...(readProgram(root).calls.get("shop/shop.ts#sell") ?? [])]).toContain("surface/cli/main.ts#onSold");
  });

  test("the width of a bag counts the callbacks of its bases", () => {
    expect(widestBag(readProgram(root))).toEqual({
      name: "shop/shop.ts#sell takes Parts",
      callbacks: ["onSold", "log"],
    });
  });

  test("the picture has an arrow for each import between rooms, dotted for types", () => {
    const picture = renderRooms(root);
    expect(picture.split("\n").filter((line) => line.includes(">"))).toEqual([
      "  shop -.-> store",
      "  surface_cli --> shop",
      "  surface_cli -.-> store",
    ]);
    expect(picture).toContain("`platform/` is imported by all but `store`, `surface/cli`.");
  });

  test("a walk that no longer exists says what to do", () => {
    expect(() =>
      walkOf(readProgram(root), [
        [
          ["shop", "shop.ts", "sell"],
          ["surface", "main.ts", "main"],
        ],
      ]),
    ).toThrow("say in script/import-graph.ts where the walk goes now");
  });
});

test("every walk is found in src/", () => {
  const program = readProgram(SRC);
  for (const [name, ways] of Object.entries(WALKS))
    expect({ name, files: walkOf(program, ways).onThePath.length }).toEqual({ name, files: expect.any(Number) });
});
