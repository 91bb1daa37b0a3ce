/** A paste that an agent drops or draws late, over a composer that is looked at on the test clock. */
import { beforeEach, describe, expect, test } from "vitest";
import { makeTestClock, type TestClock } from "../../../test/support/test-clock.ts";
import { isShownAs, parseComposer, type Standing } from "../../agent/composer.ts";
import type { ComposerWatch } from "./composer-watch.ts";
import { problemWithPaste } from "./pasted-text.ts";

/** How many lines of its composer are on the screen. */
const SHOWN_LINES = 6;

let clock: TestClock;
/** What stands in the composer. */
let text: string;
/** For each paste, what becomes of it: dropped, or drawn after so many milliseconds. */
let fates: ("dropped" | number)[];
let pastes: number;
let isUndisturbed: boolean;
let isStuck: boolean;
/** The screen shows an empty composer, and it is not the one that is typed into. */
let isMisread: boolean;

beforeEach(() => {
  clock = makeTestClock();
  [text, fates, pastes, isUndisturbed, isStuck, isMisread] = ["", [], 0, true, false, false];
});

async function problemOf(pasted: string): Promise<string | null> {
  const composer = await parseComposer("[composer]\nempty = ['^> $']\ntext = '^> ((?:.*\\n?)*)'\nclear = ['C-u']\n");
  if (composer === null) throw new Error("no composer");
  const shown = (): string => text.split("\n").slice(-SHOWN_LINES).join("\n");
  const look = async (): Promise<Standing> =>
    text === "" || isMisread ? { state: "empty" } : { state: "text", text: shown() };
  const watch: ComposerWatch = {
    composer,
    look,
    async until(holds, patienceMs) {
      const endsAt = clock.monotonic() + patienceMs;
      for (;;) {
        const standing = await look();
        if (holds(standing) || clock.monotonic() >= endsAt) return standing;
        await clock.sleep(50);
      }
    },
    shows: (wanted, standing) => standing.state === "text" && isShownAs(composer, wanted, standing.text),
    async clear() {
      if (!isStuck) text = "";
      return !isStuck;
    },
    async clearUnseen() {
      text = "";
    },
  };
  const again = async (): Promise<void> => {
    const fate = fates[pastes++] ?? 0;
    if (fate !== "dropped") clock.after(fate, () => void (text += pasted));
  };
  await again();
  return await clock.during(
    problemWithPaste(clock, watch, {
      whole: pasted,
      twice: pasted + pasted,
      drawnMs: 17_500,
      pauseMs: 200,
      settledMs: 2_500,
      again,
      clearUnseen: () => watch.clearUnseen(pasted + pasted),
      isUndisturbed: () => isUndisturbed,
    }),
  );
}

const LONG = Array.from({ length: 12 }, (_, line) => `row ${line} of a text that is longer than what is shown`).join(
  "\n",
);

describe.each([
  ["short", "run the tests"],
  ["long", LONG],
])("a %s text", (_how, pasted) => {
  test("that appears is pasted once", async () => {
    expect([await problemOf(pasted), pastes, text]).toEqual([null, 1, pasted]);
  });

  test("that appears late is pasted once", async () => {
    fates = [17_000];
    expect([await problemOf(pasted), pastes, text]).toEqual([null, 1, pasted]);
  });

  test("that is dropped is pasted again", async () => {
    fates = ["dropped"];
    expect([await problemOf(pasted), pastes]).toEqual([null, pasted === LONG ? 3 : 2]);
    expect(text).toBe(pasted);
  });

  test("that is dropped twice is no longer pasted", async () => {
    fates = ["dropped", "dropped"];
    expect(await problemOf(pasted)).toContain("did not appear in its input");
    expect([pastes, text]).toEqual([2, ""]);
  });

  // An agent that was stopped for a while reads both when it goes on.
  test("of which both pastes arrive stands there once before Enter", async () => {
    fates = [20_000, 2_500];
    expect([await problemOf(pasted), text]).toEqual([null, pasted]);
  });

  test("of which both arrive and which cannot be removed is not sent", async () => {
    isStuck = true;
    fates = [20_000, 2_500];
    expect(await problemOf(pasted)).toContain("also contains other text");
  });

  test("that goes where nobody sees it is removed again, so that the next one is not put behind it", async () => {
    isMisread = true;
    expect(await problemOf(pasted)).toContain("did not appear in its input");
    expect([pastes, text]).toEqual([2, ""]);
  });

  test("that may have been taken is not pasted again", async () => {
    fates = ["dropped"];
    isUndisturbed = false;
    expect(await problemOf(pasted)).toContain("did not appear in its input");
    expect(pastes).toBe(1);
  });
});
