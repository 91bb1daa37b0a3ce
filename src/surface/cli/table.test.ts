import { describe, expect, it } from "vitest";
import type { Column } from "./table.ts";
import { layOut } from "./table.ts";
import { asciiRuler, rulerFor } from "./text-ruler.ts";
import { unicodeRuler } from "./unicode-ruler.ts";

const columns: readonly Column[] = [
  { title: "NAME", least: 4 },
  { title: "ID", dropped: 2 },
  { title: "STATE" },
  { title: "INFO", least: 6, dropped: 1 },
];
const rows = [
  ["short", "id1", "running", "all is well"],
  ["日本語の名前です", "id2", "error", "It said: 👩‍👩‍👧 went wrong and so did everything after it"],
].map((row) => row.map((text) => ({ text })));

function draw(width: number | null): string[] {
  return layOut(columns, rows, width, unicodeRuler).trimEnd().split("\n");
}

describe("layOut", () => {
  it("shows everything where there is room", () => {
    expect(draw(null)).toEqual([
      "NAME              ID   STATE    INFO",
      "short             id1  running  all is well",
      "日本語の名前です  id2  error    It said: 👩‍👩‍👧 went wrong and so did everything after it",
    ]);
  });

  it("cuts the last column first, never through a character", () => {
    expect(draw(50)).toEqual([
      "NAME              ID   STATE    INFO",
      "short             id1  running  all is well",
      "日本語の名前です  id2  error    It said: 👩‍👩‍👧 went …",
    ]);
    expect(draw(43)[2]).toBe("日本語の名前です  id2  error    It said: …");
  });

  it("then the names, then leaves out columns", () => {
    expect(draw(30)).toEqual([
      "NAME      ID   STATE    INFO",
      "short     id1  running  all i…",
      "日本語…   id2  error    It sa…",
    ]);
    expect(draw(20)).toEqual(["NAME         STATE", "short        running", "日本語の名…  error"]);
  });

  it("fits any width, whatever it takes", () => {
    for (let width = 3; width < 120; width++) {
      for (const line of draw(width)) expect(unicodeRuler.width(line)).toBeLessThanOrEqual(Math.max(width, 4));
    }
  });

  it("paints after measuring", () => {
    const painted = layOut(
      [{ title: "A" }, { title: "B" }],
      [[{ text: "x", paint: (text) => `<${text}>` }, { text: "y" }]],
      null,
      asciiRuler,
    );
    expect(painted).toBe("A  B\n<x>  y\n");
  });
});

describe("rulerFor", () => {
  it("loads Unicode only when it is needed", async () => {
    expect(await rulerFor(["plain", "ascii ~"])).toBe(asciiRuler);
    expect(await rulerFor(["plain", "ä"])).toBe(unicodeRuler);
  });

  it("measures and cuts the same for both where both can", () => {
    for (const ruler of [asciiRuler, unicodeRuler]) {
      expect(ruler.width("hello")).toBe(5);
      expect(ruler.cut("hello", 5)).toBe("hello");
      expect(ruler.cut("hello", 4)).toBe("hel…");
      expect(ruler.cut("hello", 1)).toBe("…");
      expect(ruler.cut("hello", 0)).toBe("");
    }
  });
});
