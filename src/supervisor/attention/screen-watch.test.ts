/** A real record, a terminal that can be made to say nothing, and a clock that the test turns. */
import { afterEach, beforeEach, expect, test } from "vitest";
import { eventually } from "../../../test/support/eventually.ts";
import { makeTestClock, type TestClock } from "../../../test/support/test-clock.ts";
import { parseScreenRules } from "../../agent/screen-rules.ts";
import type { Runtime } from "../../runtime/contract.ts";
import { makeHome } from "../../store/store-fixture.ts";
import { createScreenWatch, type ScreenWatch } from "./screen-watch.ts";
import { createSoftWatch } from "./soft-watch.ts";
import { agentWith, type Ground, makeGround } from "./watch-fixture.ts";

const RULES = `
[[rule]]
name = "idle"
screen = ['^> ready']
activity = "idle"
`;

let clock: TestClock;
let ground: Ground;
let screens: ScreenWatch;
let text: string;
let isHung: boolean;
let looks: number;

beforeEach(async () => {
  [text, isHung, looks] = ["starting up", false, 0];
  clock = makeTestClock();
  const evidence = { source: "operator", detail: "asked for", at: 1 } as const;
  const conversation = { activity: { status: "starting", asks: null, evidence } } as const;
  ground = await makeGround(agentWith({}), { conversation }, makeHome(), clock);
  const rules = await parseScreenRules(RULES);
  const capture = async (): Promise<{ readonly text: string; readonly title: string }> => {
    looks += 1;
    if (isHung) throw new Error("tmux does not answer");
    return { text, title: "" };
  };
  screens = createScreenWatch({
    ...ground.parts,
    runtime: () => ({ capture }) as unknown as Runtime,
    rules: { has: () => true, of: async () => rules, composer: async () => null },
    soft: createSoftWatch({ ...ground.parts, staysMs: 500 }),
  });
  ground.use(screens);
});
afterEach(() => ground.dispose());

const status = (): string => ground.session().conversation.activity.status;

test("the last that is drawn is looked at, also when the terminal could not be asked at that moment", async () => {
  await clock.advance(1_000);
  isHung = true;
  text = "> ready";
  screens.notice("s");
  await clock.advance(4_000);
  expect([status(), ground.home.logged.length]).toEqual(["starting", 1]);
  isHung = false;
  await clock.advance(10_000);
  await eventually("it is idle", () => status() === "idle");
  const before = looks;
  await clock.advance(60_000);
  expect(looks).toBe(before);
});

test("one that never answers is asked less and less often, and no longer when nobody watches it", async () => {
  isHung = true;
  await clock.advance(300_000);
  expect(looks).toBeLessThan(20);
  expect(ground.home.logged.map(({ message }) => message)).toEqual(["a screen could not be read; tried again"]);
  await screens.leave(ground.session());
  const before = looks;
  await clock.advance(300_000);
  expect(looks).toBe(before);
});
