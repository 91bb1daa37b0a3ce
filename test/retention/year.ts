/**
 * A fleet that runs for a long time, on a compressed clock: each day so many
 * sessions are started, work and end, with real directories in a real store,
 * and what is old is removed. After each day it is measured how big everything
 * is. At the end a home that is one day old is made beside it, and `list` and
 * `events` are asked of both in turns.
 */
import { mkdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { newMail } from "../../src/fleet/mail-fixture.ts";
import { defaultRetention, type RetentionSettings } from "../../src/fleet/retention-settings.ts";
import type { DoorGround } from "../../src/operation/door-fixture.ts";
import { makeDoorGround } from "../../src/operation/door-fixture.ts";
import { listSessions } from "../../src/operation/list-sessions.ts";
import { readEvents } from "../../src/operation/read-events.ts";
import { type Clock, systemClock } from "../../src/platform/clock.ts";
import { treeBytes } from "../../src/platform/remove-tree.ts";
import { OPERATOR } from "../../src/session/caller.ts";
import type { EventBody } from "../../src/session/event.ts";
import type { Session } from "../../src/session/session.ts";
import { admitMessage, putSession, settleMessage } from "../../src/store/change.ts";
import { makeMessage, makeSession, nextRevision, momentAt } from "../../src/store/store-fixture.ts";
import { createRandom, type Random } from "../truth/random.ts";

const DAY = 86_400_000;

export interface Day {
  readonly day: number;
  readonly sessions: number;
  readonly events: number;
  readonly databaseBytes: number;
  readonly outputsBytes: number;
  readonly heapBytes: number;
  readonly pruneMs: number;
  /** The longest time for which nothing else was served while it was pruned. */
  readonly heldUpMs: number;
}

export interface Year {
  readonly days: number;
  readonly perDay: number;
  readonly living: number;
  readonly settings: Partial<RetentionSettings>;
  readonly seed: string;
  /** Days that are measured in full, beside the first and the last. */
  readonly measureEvery: number;
  onDay?(day: Day): void;
  /** Whether the two homes are compared. */
  readonly compares: boolean;
}

/** Of the old home to the one that is a day old, by medians. */
export interface Ratios {
  readonly list: number;
  readonly events: number;
}

export async function simulate(year: Year): Promise<{ readonly days: readonly Day[]; readonly ratios: Ratios | null }> {
  const days: Day[] = [];
  const old = await live(year, year.days, days);
  try {
    if (!year.compares) return { days, ratios: null };
    const young = await live(year, 1, []);
    try {
      return { days, ratios: await compare(old, young) };
    } finally {
      await young.dispose();
    }
  } finally {
    await old.dispose();
  }
}

async function live(year: Year, until: number, days: Day[]): Promise<DoorGround> {
  const random = createRandom(year.seed);
  let passed = 0;
  const now = (): number => Date.now() + passed;
  const clock: Clock = { ...systemClock, now, moment: () => ({ ...systemClock.moment(), at: now() }) };
  const ground = await makeDoorGround([], { clock });
  const settings = { ...defaultRetention, ...year.settings };
  try {
    const living = Array.from({ length: year.living }, (_, index) => `resident-${index}`);
    await ground.store.commit({ changes: living.map((id) => putSession(running(ground, id, now()))) });
    for (let day = 1; day <= until; day += 1) {
      const today = Array.from({ length: year.perDay }, (_, index) => `day-${day}-${index}`);
      await work(ground, random, { today, living, now });
      passed += DAY;
      const before = performance.now();
      const watch = watchLoop();
      await ground.supervisor.retention.run({ settings, isDry: false, caller: OPERATOR });
      const heldUpMs = watch();
      const pruneMs = performance.now() - before;
      if (day !== 1 && day !== until && day % year.measureEvery !== 0) continue;
      const measured = { day, pruneMs, heldUpMs, ...(await measure(ground)) };
      days.push(measured);
      year.onDay?.(measured);
    }
    return ground;
  } catch (error) {
    await ground.dispose();
    throw error;
  }
}

function running({ home }: DoorGround, id: string, at: number): Session {
  const evidence = { source: "operator", detail: "test", at } as const;
  return makeSession(home, id, {
    state: "running",
    reason: { code: "asked", text: "Somebody asked.", evidence },
    identity: { agent: "inline", name: id, createdAt: at },
    process: { incarnation: 1, startedAt: at },
  });
}

/** What one day leaves: sessions with turns, messages, mail and files; and events of those that stay. */
async function work(
  ground: DoorGround,
  random: Random,
  { today, living, now }: { readonly today: readonly string[]; readonly living: readonly string[]; now(): number },
): Promise<void> {
  const { store, supervisor } = ground;
  const at = now();
  const evidence = { source: "hook", detail: "a hook reported it", at } as const;
  const turn = (number: number): readonly EventBody[] => [
    { type: "turn-started", turn: number, evidence },
    { type: "activity-changed", from: "idle", activity: { status: "working", asks: null, evidence } },
    { type: "turn-completed", turn: number, evidence },
    { type: "activity-changed", from: "working", activity: { status: "idle", asks: null, evidence } },
  ];
  const reason = { code: "ended", text: "It was ended.", evidence };
  await Promise.all(
    today.map(async (id) => {
      const session = running(ground, id, at);
      const directory = session.identity.outputsDir;
      mkdirSync(join(directory, "spool"), { recursive: true, mode: 0o700 });
      writeFileSync(join(directory, "output.log"), "x".repeat(random.int(500, 8_000)));
      writeFileSync(join(directory, "screen.txt"), "y".repeat(random.int(100, 3_000)));
      const messages = Array.from({ length: random.int(1, 4) }, (_, index) => `${id}-m-${index}`);
      await store.commit({
        changes: [putSession(session), ...messages.map((message) => admitMessage(makeMessage(id, message)))],
        events: [
          { sessionId: id, body: { type: "session-planned", name: id, agent: "inline", role: "worker" } },
          { sessionId: id, body: { type: "session-running", incarnation: 1, reason, pid: 4_242 } },
          ...messages.map((messageId) => ({
            sessionId: id,
            body: { type: "message-admitted", messageId, bytes: 5 } as const,
          })),
        ],
        idempotency: { key: `start-${id}`, operation: "start_session", fingerprint: "f".repeat(64), subject: id, at },
      });
      const turns = messages.flatMap((_, index) => turn(index + 1));
      await store.commit({
        changes: messages.map((messageId) =>
          settleMessage({ messageId, state: "delivered", detail: null, moment: momentAt(at) }),
        ),
        events: turns.map((body) => ({ sessionId: id, body })),
      });
      const ended = nextRevision(session, {
        state: "stopped",
        reason,
        wish: { desired: "stopped" },
        process: { exit: { code: 0, signal: null, at }, endedAt: at },
      });
      await store.commit({
        changes: [putSession(ended)],
        events: [{ sessionId: id, body: { type: "session-stopped", reason } }],
      });
    }),
  );
  await store.commit({ events: living.flatMap((sessionId) => turn(1).map((body) => ({ sessionId, body }))) });
  const mails = today
    .filter(() => random.chance(0.25))
    .map((id) => newMail(`mail-${id}`, { to: "operator", addressed: "operator", body: "z".repeat(2_000), sentAt: at }));
  await supervisor.mail.send(mails, { caller: OPERATOR });
  await Promise.all(mails.map(({ id }) => supervisor.mail.change(id, "read", OPERATOR)));
}

async function measure({ store, home }: DoorGround): Promise<Omit<Day, "day" | "pruneMs" | "heldUpMs">> {
  const [oldest] = await store.log.places({ after: store.log.prunedThrough(), limit: 1 });
  return {
    sessions: store.registry.all().length,
    events: store.log.head() - (oldest?.seq ?? store.log.head()) + 1,
    databaseBytes: statSync(home.databasePath).size + statSync(`${home.databasePath}-wal`).size,
    outputsBytes: await treeBytes(home.outputsRoot),
    heapBytes: heap(),
  };
}

/** The same of each: the list, and a page from the middle of the log, of all and of one session. */
async function compare(old: DoorGround, young: DoorGround): Promise<Ratios> {
  const list = ({ door, call }: DoorGround): Promise<unknown> => door.invoke(listSessions, {}, OPERATOR, call);
  const events = async ({ door, call, store }: DoorGround): Promise<void> => {
    const since = Math.max(0, store.log.head() - 2_500);
    await door.invoke(readEvents, { since, limit: 100 }, OPERATOR, call);
    await door.invoke(readEvents, { session: "resident-0", since, limit: 100 }, OPERATOR, call);
  };
  return { list: await ratio(list, old, young), events: await ratio(events, old, young) };
}

const ROUNDS = 500;

/** In turns, so that whatever else the machine does concerns both. */
async function ratio(
  act: (ground: DoorGround) => Promise<unknown>,
  old: DoorGround,
  young: DoorGround,
): Promise<number> {
  const times = { old: [] as number[], young: [] as number[] };
  for (let round = 0; round < 2 * ROUNDS; round += 1) {
    for (const [name, ground] of [
      ["old", old],
      ["young", young],
    ] as const) {
      const before = performance.now();
      await act(ground);
      // The first half is for the compiler.
      if (round >= ROUNDS) times[name].push(performance.now() - before);
    }
  }
  return median(times.old) / median(times.young);
}

function median(times: readonly number[]): number {
  return times.toSorted((one, other) => one - other)[times.length >> 1] ?? 0;
}

function heap(): number {
  setFlagsFromString("--expose-gc");
  (runInNewContext("gc") as () => void)();
  return process.memoryUsage().heapUsed;
}

/** Call what it returns for the longest pause since, in milliseconds. */
function watchLoop(): () => number {
  let last = performance.now();
  let longest = 0;
  let isOver = false;
  const look = (): void => {
    longest = Math.max(longest, performance.now() - last);
    last = performance.now();
    if (!isOver) setImmediate(look);
  };
  setImmediate(look);
  return () => {
    isOver = true;
    return longest;
  };
}
