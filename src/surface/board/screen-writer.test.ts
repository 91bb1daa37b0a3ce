import { describe, expect, it } from "vitest";
import { span } from "./line.ts";
import type { Line } from "./line.ts";
import { createScreenWriter } from "./screen-writer.ts";

const frame = (...lines: readonly Line[]) => ({ lines, cursor: null });
const inside = (update: string): string =>
  update.replace("\u001B[?2026h\u001B[?25l", "").replace("\u001B[?25l\u001B[?2026l", "");

describe("the screen writer", () => {
  it("sends everything once, then only what changed", () => {
    const writer = createScreenWriter({ isUnicode: true });
    const row = (time: string): Line => [span("name "), span(time, "2"), span(" a long line")];
    expect(inside(writer.update(frame([span("Reeve", "1")], row("1s"))))).toBe(
      "\u001B[1;1H\u001B[1mReeve\u001B[0m\u001B[K\u001B[2;1Hname \u001B[2m1s\u001B[0m a long line\u001B[K",
    );
    expect(writer.update(frame([span("Reeve", "1")], row("1s")))).toBe("");
    expect(inside(writer.update(frame([span("Reeve", "1")], row("2s"))))).toBe("\u001B[2;6H\u001B[2m2s\u001B[0m");
    expect(inside(writer.update(frame([span("Reeve", "1")], row("10s"))))).toBe(
      "\u001B[2;6H\u001B[2m10s\u001B[0m a long line\u001B[K",
    );
  });

  it("does not count on how wide other scripts are", () => {
    const writer = createScreenWriter({ isUnicode: true });
    writer.update(frame([span("漢 "), span("1s")]));
    expect(inside(writer.update(frame([span("漢 "), span("2s")])))).toBe("\u001B[1;1H漢 2s\u001B[K");
  });

  it("clears what is left of a longer line, and everything after a resize", () => {
    const writer = createScreenWriter({ isUnicode: true });
    writer.update(frame([span("long text")], [span("second")]));
    expect(inside(writer.update(frame([span("long")], [])))).toBe("\u001B[1;1Hlong\u001B[K\u001B[2;1H\u001B[K");
    writer.forget();
    expect(inside(writer.update(frame([span("long")])))).toBe("\u001B[1;1Hlong\u001B[K");
  });

  it("lets no control character of anybody's text through, and writes ASCII where that is all there is", () => {
    const writer = createScreenWriter({ isUnicode: false });
    expect(inside(writer.update(frame([span("a\u001B[2J\u009Bb\r\n…é·")])))).toBe("\u001B[1;1Ha[2Jb~?|\u001B[K");
  });
});
