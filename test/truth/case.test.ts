import { expect, test } from "vitest";
import { formatCase, MODES, parseCase } from "./case.ts";
import { EPISODES } from "./episodes.ts";
import { drawCase } from "./scenario.ts";
import { shrink, smallerThan } from "./shrink.ts";

const text =
  "claude: start prompt=say | approval answer=pane-no + kill-daemon@340 + failpoint:send.leased@0 | end when=now // practice: start | end";

test("a case is one line of text, and that line is the case", () => {
  const parsed = parseCase(text);
  expect(formatCase(parsed)).toBe(text);
  expect(parsed.lanes[0]?.episodes[1]).toEqual({
    name: "approval",
    options: { answer: "pane-no" },
    faults: [
      { name: "kill-daemon", argument: null, atMs: 340 },
      { name: "failpoint", argument: "send.leased", atMs: 0 },
    ],
  });
});

test.each([
  ["vim: start", /begins with one of/],
  ["claude: start prompt", /name=value/],
  ["claude: start + explode@3", /A fault is written/],
  ["claude: start + kill-daemon", /A fault is written/],
])("%s is refused", (bad, why) => {
  expect(() => parseCase(bad)).toThrow(why);
});

test("the same seed draws the same cases; all agents, episodes and faults are drawn in time", () => {
  const draw = (seed: string) => Array.from({ length: 400 }, (_, number) => drawCase(seed, number, { modes: MODES }));
  const cases = draw("a");
  expect(draw("a").map(formatCase)).toEqual(cases.map(formatCase));
  expect(draw("b").map(formatCase)).not.toEqual(cases.map(formatCase));
  expect(cases.map((one) => formatCase(parseCase(formatCase(one))))).toEqual(cases.map(formatCase));
  const lanes = cases.flatMap((one) => one.lanes);
  const episodes = lanes.flatMap((lane) => lane.episodes);
  expect(new Set(lanes.map(({ mode }) => mode))).toEqual(new Set(MODES));
  expect(new Set(episodes.map(({ name }) => name))).toEqual(new Set(["start", ...Object.keys(EPISODES)]));
  expect(new Set(episodes.flatMap(({ faults }) => faults.map(({ name }) => name))).size).toBe(6);
  for (const { mode, episodes: drawn } of lanes)
    for (const { name } of drawn) if (name !== "start") expect(EPISODES[name]?.modes).toContain(mode);
});

test("what ends the tmux server is only drawn for a session that is alone", () => {
  const cases = Array.from({ length: 400 }, (_, number) => drawCase("c", number, { modes: MODES }));
  const killing = cases.filter((one) => formatCase(one).includes("kill-tmux"));
  expect(killing.length).toBeGreaterThan(0);
  expect(killing.every(({ lanes }) => lanes.length === 1)).toBe(true);
});

test("a failing case is cut down to what is needed", async () => {
  const whole = parseCase(
    "claude: start prompt=say | turn text=say | queue more=2 + kill-daemon@10 + stop-daemon:5@1 | person text=say | end when=now // practice: start | turn text=say | end",
  );
  const shows = (candidate: typeof whole): Promise<boolean> => {
    const line = formatCase(candidate);
    return Promise.resolve(line.includes("queue") && line.includes("kill-daemon"));
  };
  expect(formatCase(await shrink(whole, shows, 100))).toBe(
    "claude: start prompt=say | queue more=2 + kill-daemon@10 | end when=now",
  );
  expect(await shrink(whole, shows, 0)).toEqual(whole);
  expect(smallerThan(parseCase("claude: start | end"))).toEqual([]);
});
