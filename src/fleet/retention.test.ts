import { describe, expect, test } from "vitest";
import { createRandom } from "../../test/truth/random.ts";
import { plannedSession } from "../session/session-fixture.ts";
import { mailWith } from "./mail-fixture.ts";
import { type Candidate, choose, endOf, isOver, NOTHING_KNOWN, RECORD_RULES, vetoOf } from "./retention.ts";
import { defaultRetention, olderThan, parseRetention } from "./retention-settings.ts";

const DAY = 86_400_000;
const NOW = 1_800_000_000_000;

function ended(id: string, at: number) {
  const evidence = { source: "operator", detail: "test", at } as const;
  return plannedSession({
    id,
    state: "stopped",
    reason: { code: "ended", text: "It was ended.", evidence },
    wish: { desired: "stopped" },
    process: { endedAt: at },
  });
}

test.each(Array.from({ length: 20 }, (_, seed) => seed))("properties of a choice, seed %i", (seed) => {
  const random = createRandom(`choice ${seed}`);
  const candidates = Array.from({ length: random.int(0, 40) }, (_, index): Candidate => ({
    session: ended(`s-${index}`, NOW - random.int(0, 60) * DAY),
    bytes: random.int(0, 1_000),
    veto: random.chance(0.3) ? { code: "held", why: "It is held." } : null,
  }));
  const settings = {
    ...defaultRetention,
    endedMs: random.int(1, 60) * DAY,
    endedSessions: random.int(0, 30),
    outputsBytes: random.int(0, 20_000),
  };
  const { go, stay } = choose(candidates, settings, NOW);
  const gone = new Set(go.map(({ session }) => session.id));
  const kept = candidates.filter(({ session, veto }) => veto === null && !gone.has(session.id));
  // Nothing with a veto goes, and nobody is in both lists.
  expect(go.every(({ veto }) => veto === null)).toBe(true);
  expect(stay.every(({ veto, session }) => veto !== null && !gone.has(session.id))).toBe(true);
  // What is left keeps all limits.
  expect(kept.length).toBeLessThanOrEqual(settings.endedSessions);
  expect(kept.reduce((sum, { bytes }) => sum + bytes, 0)).toBeLessThanOrEqual(settings.outputsBytes);
  expect(kept.every(({ session }) => endOf(session) > NOW - settings.endedMs)).toBe(true);
  // The oldest go: nobody that stays ended before one that went.
  const newestGone = Math.max(-Infinity, ...go.map(({ session }) => endOf(session)));
  expect(kept.every(({ session }) => endOf(session) >= newestGone)).toBe(true);
  // In the order of their ends; what went cannot be chosen again.
  expect(go.map(({ session }) => endOf(session))).toEqual(
    go.map(({ session }) => endOf(session)).toSorted((a, b) => a - b),
  );
  const rest = candidates.filter(({ session }) => !gone.has(session.id));
  expect(choose(rest, settings, NOW).go).toEqual([]);
  // Who keeps more removes less.
  const more = choose(
    candidates,
    { ...settings, endedMs: settings.endedMs + DAY, endedSessions: settings.endedSessions + 1 },
    NOW,
  );
  expect(more.go.every(({ session }) => gone.has(session.id))).toBe(true);
});

test("a session ended when it was ended, not when its process died", () => {
  const session = ended("a", NOW);
  expect(endOf({ ...session, process: { ...session.process, endedAt: NOW - 40 * DAY } })).toBe(NOW);
});

test("one that has not ended has a veto, whatever else is known", () => {
  const session = plannedSession({ state: "error" });
  expect(vetoOf(session, NOTHING_KNOWN, defaultRetention, NOW)).toEqual({
    code: "not-ended",
    why: "It has not ended.",
  });
  expect(vetoOf(ended("b", NOW - DAY), NOTHING_KNOWN, defaultRetention, NOW)).toBeNull();
});

test("unread mail is never over, the rest when its time has come", () => {
  const { mails: mail } = RECORD_RULES;
  const at = { settings: defaultRetention, now: NOW, tooMany: 0 };
  const old = { sentAt: NOW - 100 * DAY } as const;
  expect(isOver(mail, mailWith("m", 1, old), { ...at, tooMany: 5 })).toBe(false);
  expect(isOver(mail, mailWith("m", 1, { ...old, state: "read", readAt: NOW - DAY }), at)).toBe(false);
  expect(isOver(mail, mailWith("m", 1, { ...old, state: "read", readAt: NOW - 31 * DAY }), at)).toBe(true);
});

describe("[retention] in config.toml", () => {
  test("what is not said is as it was", () => {
    expect(parseRetention({})).toEqual(defaultRetention);
    expect(parseRetention({ ended_days: 7, outputs_megabytes: 1, enabled: false })).toEqual({
      ...defaultRetention,
      endedMs: 7 * DAY,
      outputsBytes: 1_048_576,
      isEnabled: false,
    });
  });

  test.each([
    [{ ended_days: -1 }, "[retention] ended_days must be a number from 0 to 36500"],
    [{ events: 1.5 }, "[retention] events must be a whole number from 0 to 100000000"],
    [{ enabled: 1 }, "[retention] enabled must be true or false"],
    [{ toString: 1 }, "there is no setting toString in [retention]"],
  ])("%o is refused", (table, why) => {
    expect(() => parseRetention(table)).toThrow(why);
  });

  test("an age on the command line is for all that has one", () => {
    expect(olderThan(defaultRetention, DAY)).toEqual({
      ...defaultRetention,
      endedMs: DAY,
      eventsMs: DAY,
      mailMs: DAY,
      workMs: DAY,
    });
  });
});

test("a persisted session stays until it was exported after its end", () => {
  const at = NOW - 100 * DAY;
  const plain = ended("s", at);
  const launch = { ...plain.identity.launch, persistence: { capture: "none", debugLog: null } } as const;
  const persisted = { ...plain, identity: { ...plain.identity, launch } };
  const exported = (exportedAt: number | null) => ({ ...persisted, notice: { ...persisted.notice, exportedAt } });
  const veto = (session: typeof plain) => vetoOf(session, NOTHING_KNOWN, defaultRetention, NOW);
  expect(veto(plain)).toBeNull();
  for (const before of [null, at - 1])
    expect(veto(exported(before))).toEqual({
      code: "unexported",
      why: "It was kept for a post-mortem and has not been exported since it ended: reeve export s",
    });
  expect(veto(exported(at))).toBeNull();
});
