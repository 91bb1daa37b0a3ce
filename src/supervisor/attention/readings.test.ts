import { afterEach, beforeEach, expect, test } from "vitest";
import { REDACTED } from "../../capture/redaction.ts";
import { systemClock } from "../../platform/clock.ts";
import type { Reading } from "../../session/reading.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { createReadings } from "./readings.ts";
import { agentWith, type Ground, makeGround, SECRET } from "./watch-fixture.ts";

let ground: Ground;
beforeEach(async () => {
  ground = await makeGround(agentWith({}));
});
afterEach(() => ground.dispose());

const take = (reading: Partial<Reading>): Promise<void> =>
  ground.readings.take(ground.session(), { source: "hook", detail: "a hook", ...reading });

/** Everything that reached the disk or memory, as text. */
const everything = async (): Promise<string> =>
  JSON.stringify([
    ground.session(),
    await ground.store.log.read({ after: 0, limit: 1_000 }),
    ground.readings.lastWords(ground.session()),
  ]);

const request = {
  id: "p",
  kind: "command",
  title: `Run curl -H ${SECRET}?`,
  subject: `curl -H 'token: ${SECRET}'`,
  cwd: `/home/${SECRET}`,
  reason: `needs ${SECRET}`,
} as const;

test.each<[string, Partial<Reading>]>([
  ["the detail", { detail: `saw ${SECRET}`, activity: "working" }],
  ["what is asked", { activity: "awaiting-input", asks: `Is ${SECRET} right?` }],
  ["a question", { approval: { requested: request } }],
  ["an error", { turn: { phase: "failed", error: `401: ${SECRET}` } }],
  ["a prompt", { turn: { phase: "started", prompt: `use ${SECRET}` } }],
])("secrets are taken out of %s", async (_what, reading) => {
  await take(reading);
  expect(await everything()).not.toContain(SECRET);
  expect(ground.store.log.head()).toBeGreaterThan(0);
});

test("also of what is only noted, and of lines", async () => {
  await ground.readings.note(
    ground.session(),
    { source: "screen", detail: `rule x: title "${SECRET}"`, activity: "idle" },
    "not counted",
  );
  const lines: readonly Reading[] = [
    { source: "transcript", detail: "line", turn: { phase: "failed", error: SECRET } },
  ];
  await ground.readings.takeLines(ground.session(), {
    readings: lines,
    cursor: { identity: "1:a", offset: 5, isInLongLine: false },
    said: null,
  });
  expect(await everything()).not.toContain(SECRET);
  expect(ground.events("turn-failed")).toMatchObject([{ error: REDACTED }]);
  expect(ground.session().watch.transcriptCursor).toEqual({ identity: "1:a", offset: 5, isInLongLine: false });
});

test("where the secrets are not known, none of the agent's own words are kept", async () => {
  const readings = createReadings({ ...ground.parts, redactor: async () => () => null });
  await readings.take(ground.session(), {
    source: "hook",
    detail: "a hook",
    activity: "awaiting-approval",
    asks: SECRET,
    approval: { requested: request },
  });
  await readings.take(ground.session(), { source: "hook", detail: "a hook", turn: { phase: "failed", error: SECRET } });
  expect(await everything()).not.toContain(SECRET);
  expect(ground.events("turn-failed")).toMatchObject([
    { error: "(not kept: Reeve does not know which secrets it may contain)", evidence: { detail: "a hook" } },
  ]);
});

test("long texts are cut after the secrets were taken out, so that no half of one is left", async () => {
  const long = `${"x".repeat(3_990)}${SECRET}${"y".repeat(100_000)}`;
  await take({ detail: long, approval: { requested: { ...request, title: long, subject: long, reason: long } } });
  expect(await everything()).not.toContain(SECRET.slice(0, 6));
  const [approval] = ground.session().conversation.approvals;
  expect([approval?.title.length, approval?.subject?.length, approval?.reason?.length]).toEqual([4_001, 4_001, 4_001]);
  await take({ turn: { phase: "failed", error: long }, activity: "awaiting-input", asks: long });
  expect((await everything()).length).toBeLessThan(60_000);
});

test("what was said last is remembered by source, with what came of it", async () => {
  await take({ detail: "first", activity: "working" });
  await take({ detail: "Stop hook", activity: "idle" });
  await ground.readings.note(
    ground.session(),
    { source: "screen", detail: "rule idle", activity: "idle" },
    "not counted: known already",
  );
  const at = expect.any(Number);
  expect(ground.readings.lastWords(ground.session())).toEqual([
    { source: "hook", detail: "Stop hook", said: "idle", at, weight: "counted" },
    { source: "screen", detail: "rule idle", said: "idle", at, weight: "not counted: known already" },
  ]);
  expect(ground.readings.lastWords({ id: "other", process: { incarnation: 1 } })).toEqual([]);
  ground.readings.forget("s");
  expect([ground.readings.lastWords(ground.session()), ground.readings.lastSignAt(ground.session())]).toEqual([
    [],
    null,
  ]);
});

const weights = (): readonly (readonly [string, string])[] =>
  ground.readings.lastWords(ground.session()).map(({ source, weight }) => [source, weight]);

test("what is ignored because it came late is not called counted", async () => {
  await take({ detail: "first", turn: { phase: "started", id: "a" } });
  await take({ detail: "second", turn: { phase: "started", id: "b" } });
  expect(weights()).toEqual([["hook", "counted"]]);
  await take({ detail: "late", turn: { phase: "completed", id: "a" } });
  expect(ground.session().conversation.turnOpen).toBe(true);
  expect(weights()).toEqual([["hook", "ignored: it is about an earlier turn, or was reported already"]]);
  await take({ detail: "end", turn: { phase: "completed", id: "b" } });
  expect(weights()).toEqual([["hook", "counted"]]);
});

test("also in lines that are read together, each as things stand by then", async () => {
  const said = (turn: Reading["turn"] & object): Reading => ({ source: "transcript", detail: "line", turn });
  const takeLines = (...readings: readonly Reading[]): Promise<void> =>
    ground.readings.takeLines(ground.session(), {
      readings,
      cursor: { identity: "1:a", offset: 5, isInLongLine: false },
      said: null,
    });
  await takeLines(said({ phase: "started", id: "a" }), said({ phase: "completed", id: "a" }));
  expect(weights()).toEqual([["transcript", "counted"]]);
  await takeLines(said({ phase: "started", id: "b" }), said({ phase: "completed", id: "a" }));
  expect(weights()).toEqual([["transcript", "ignored: it is about an earlier turn, or was reported already"]]);
});

test("what another process of the session said late is not called counted", async () => {
  await ground.apply({
    type: "found-exited",
    incarnation: 1,
    code: 1,
    signal: null,
    evidence: { source: "runtime", detail: "gone", at: 2 },
  });
  await take({ detail: "late", activity: "working" });
  expect(ground.session().conversation.activity.status).not.toBe("working");
  expect(weights()).toEqual([["hook", "ignored: its process has ended"]]);
});

test("what could not be recorded is not remembered as counted", async () => {
  const broken: Ledger = { ...ground.ledger, apply: () => Promise.reject(new Error("the disk is full")) };
  const readings = createReadings({ ...ground.parts, ledger: broken, redactor: async () => (text) => text });
  const said: Reading = { source: "hook", detail: "Stop hook", activity: "idle" };
  await expect(readings.take(ground.session(), said)).rejects.toThrow("the disk is full");
  expect(readings.lastWords(ground.session())).toEqual([]);
});

test("what counts is a sign of life, what is only noted is none", async () => {
  await ground.readings.note(
    ground.session(),
    { source: "screen", detail: "a spinner", activity: "working" },
    "not counted",
  );
  expect(ground.readings.lastSignAt(ground.session())).toBeNull();
  await take({ activity: "working" });
  expect(ground.readings.lastSignAt(ground.session())).toBeTypeOf("number");
});

test("a reading of another incarnation changes nothing", async () => {
  const before = ground.session();
  await ground.readings.take(
    { id: "s", process: { incarnation: 2 } },
    { source: "hook", detail: "late", activity: "working" },
  );
  expect(ground.session()).toBe(before);
});

test("of an incarnation that another has followed nothing is remembered", async () => {
  await take({ activity: "working" });
  const next = { id: "s", process: { incarnation: 2 } };
  expect([ground.readings.lastWords(next), ground.readings.lastSignAt(next)]).toEqual([[], null]);
  await ground.readings.note(
    { id: "s", process: { incarnation: 1 } },
    { source: "screen", detail: "late" },
    "not counted",
  );
  expect(ground.readings.lastWords(next)).toEqual([]);
});

test("a status file's word does not replace the hook's", async () => {
  await take({ detail: "Stop hook", activity: "idle" });
  await ground.readings.note(ground.session(), { source: "status", detail: "busy", activity: "working" }, "ignored");
  expect(ground.readings.lastWords(ground.session()).map(({ source, said }) => [source, said])).toEqual([
    ["hook", "idle"],
    ["status", "working"],
  ]);
});

test("what only a screen shows is no sign of life, also when it counts", async () => {
  await take({ source: "screen", activity: "working" });
  expect(ground.readings.lastSignAt(ground.session())).toBeNull();
});

test("a screen that no rule knows is not its first word: it may be the error it dies of", async () => {
  let hasSpoken = false;
  void ground.readings.firstWord(ground.session()).then(() => (hasSpoken = true));
  await ground.readings.note(
    ground.session(),
    { source: "screen", detail: "rule something-else", activity: "unknown" },
    "ignored",
  );
  await take({ source: "transcript", transcript: "lost" });
  expect(hasSpoken).toBe(false);
  await take({ source: "screen", activity: "idle" });
  expect(hasSpoken).toBe(true);
});

test("a reading that waits for the session's secrets is not overtaken by the next", async () => {
  const { promise: slow, resolve: answer } = Promise.withResolvers<(text: string) => string>();
  const redactors = [slow, Promise.resolve((text: string) => text)];
  const readings = createReadings({ ...ground.parts, redactor: () => redactors.shift() ?? slow });
  const session = ground.session();
  const both = [
    readings.take(session, { source: "hook", detail: "first", turn: { phase: "started", id: "a" } }),
    readings.take(session, { source: "hook", detail: "second", turn: { phase: "completed", id: "a" } }),
  ];
  answer((text) => text);
  await Promise.all(both);
  expect(ground.events("turn-started", "turn-completed").map(({ type }) => type)).toEqual([
    "turn-started",
    "turn-completed",
  ]);
});

test("secrets are taken out of what is said of a limit, and its name is bounded", async () => {
  const taken: unknown[] = [];
  const readings = createReadings({
    ledger: { apply: (_id: string, input: unknown) => Promise.resolve(taken.push(input)) } as unknown as Ledger,
    clock: systemClock,
    redactor: async () => (text) => text.replaceAll(SECRET, REDACTED),
  });
  const none = { usedPercent: null, resetsAt: null, confidence: "none" } as const;
  const limits = [
    { limit: `m ${SECRET} ${"x".repeat(500)}`, status: "rejected", ...none, text: `429 ${SECRET}` },
  ] as const;
  await readings.take(ground.session(), { source: "hook", detail: "a hook", limits });
  expect(taken).toMatchObject([{ reading: { limits: [{ text: `429 ${REDACTED}` }] } }]);
  expect(JSON.stringify(taken)).not.toContain(SECRET);
  expect(JSON.stringify(taken).length).toBeLessThan(500);
  expect(readings.lastWords(ground.session())).toMatchObject([{ said: "limit reached" }]);
});
