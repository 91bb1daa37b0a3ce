import { describe, expect, test } from "vitest";
import { solidLines } from "./solid-lines.ts";

const away = { column: 0, row: 9, isVisible: false };

describe("solidLines", () => {
  test("a placeholder is left out, what was typed is not", () => {
    const empty = "\u001b[1m›\u001b[0m\u001b[39m\u001b[49m \u001b[2mAsk Codex to do anything";
    const draft = "\u001b[0m\u001b[1m›\u001b[0m\u001b[39m\u001b[49m Ask Codex to do anything";
    expect(solidLines([empty, draft], away)).toEqual(["›", "› Ask Codex to do anything"]);
  });

  test("faint goes on in the next line until something ends it", () => {
    expect(solidLines(["a \u001b[2mb", "c\u001b[22m d", "e \u001b[1;2mf\u001b[0m g"], away)).toEqual([
      "a",
      "  d",
      "e   g",
    ]);
  });

  test("the 2 in a colour is not faint", () => {
    expect(solidLines(["\u001b[38;2;1;2;3mrgb \u001b[38;5;2mgreen \u001b[48;5;2;38;5;244mgrey"], away)).toEqual([
      "rgb green grey",
    ]);
  });

  test("the cursor is shown where it stands, also behind the end of a line, and as hidden where it is", () => {
    expect(solidLines(["› ", "x"], { column: 2, row: 0, isVisible: true })).toEqual(["› ▮", "x"]);
    expect(solidLines(["❯"], { column: 2, row: 0, isVisible: false })).toEqual(["❯ ▯"]);
    expect(solidLines(["› one"], { column: 2, row: 0, isVisible: true })).toEqual(["› ▮one"]);
  });
});
