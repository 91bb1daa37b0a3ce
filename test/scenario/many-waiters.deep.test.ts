/**
 * A hundred waiters on a hundred sessions, and the daemon is killed
 * under them. Things happen before that, while no daemon runs, and afterwards;
 * each waiter is told what happened to its own session, once and in order.
 */
import { execFileSync } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { Client } from "../../src/client/create-client.ts";
import { createClient } from "../../src/client/create-client.ts";
import { daemonCommand } from "../../src/client/daemon-command.ts";
import { acquireProcessLock } from "../../src/platform/process-lock.ts";
import { askDaemon } from "../support/ask-daemon.ts";
import { eventually } from "../support/eventually.ts";
import { killIfThere } from "../support/kill.ts";
import { pressInPane, screenOf } from "../support/pane.ts";
import type { EventRow, TestHome } from "../support/test-home.ts";
import { createTestHome } from "../support/test-home.ts";

const ROOT = join(import.meta.dirname, "..", "..");
/** More at once would only wait for one another. */
const BATCH = 10;
/** For what never comes: a machine with twenty others at work takes minutes for all of it. */
const PATIENCE_MS = 120_000;

let home: TestHome;
let client: Client;
beforeEach(() => {
  home = createTestHome();
  client = createClient(
    { home: home.dir },
    { daemonCommand: () => daemonCommand(ROOT), environment: home.environment },
  );
});
afterEach(() => home.dispose());

type When = "before" | "absent" | "after";

/** A session, what is done to it when, and what its waiter must be told then. */
interface Part {
  readonly name: string;
  readonly agent: "command" | "practice";
  readonly prompt?: string;
  readonly steps: readonly Step[];
}

interface Step {
  readonly when: When;
  readonly told: string;
  act?(id: string): Promise<unknown>;
  /** Without a daemon nobody tells that it happened. */
  isDone?(id: string): Promise<boolean>;
}

interface Told {
  readonly reason: string;
  readonly cursor: number;
  readonly sessions: readonly string[];
  readonly exit: { readonly code: number | null; readonly signal: string | null } | null;
}

interface Waiter {
  readonly id: string;
  readonly part: Part;
  readonly told: Told[];
  readonly isOver: Promise<void>;
}

const fifoOf = (name: string): string => join(home.dir, `${name}.fifo`);
const isGone = async (id: string): Promise<boolean> => home.marked(id).length === 0;
const shows = (text: string) => async (id: string) => (await screenOf(home, id)).includes(text);
const end = (id: string) => client.endSession({ session: id, when: "now", grace_seconds: 0 });

/** A shell that does what it is told, once: half of them exit, half are killed. */
function commands(): readonly Part[] {
  return Array.from({ length: 76 }, (_, index) => {
    const name = `command-${index}`;
    const when = (["before", "absent", "after"] as const)[index % 3] ?? "after";
    const act = () => writeFile(fifoOf(name), index % 2 === 0 ? `exit ${index}\n` : "kill -9 $$\n");
    return { name, agent: "command", steps: [{ when, told: "exited", act, isDone: isGone }] };
  });
}

function agents(): readonly Part[] {
  const ended: Step = { when: "after", told: "exited", act: end };
  const spoken: Step = { when: "before", told: "turn-completed" };
  const kinds: readonly Omit<Part, "name">[] = [
    {
      agent: "practice",
      prompt: "say hello",
      steps: [
        spoken,
        {
          when: "absent",
          told: "exited",
          act: async (id) => home.marked(id).map(({ pid }) => killIfThere(pid)),
          isDone: isGone,
        },
      ],
    },
    {
      agent: "practice",
      prompt: "ask make",
      steps: [
        { when: "before", told: "awaiting-approval" },
        { when: "absent", told: "turn-completed", act: (id) => pressInPane(home, id, "y"), isDone: shows("I ran") },
        ended,
      ],
    },
    {
      agent: "practice",
      steps: [
        {
          when: "absent",
          told: "turn-completed",
          act: (id) => pressInPane(home, id, "anybody there?", "Enter"),
          isDone: shows("You said"),
        },
        { when: "after", told: "turn-failed", act: (id) => client.sendMessage({ session: id, text: "fail again" }) },
        ended,
      ],
    },
    {
      agent: "practice",
      prompt: "say hello",
      steps: [
        spoken,
        {
          when: "after",
          told: "awaiting-approval",
          act: (id) => client.sendMessage({ session: id, text: "ask make" }),
        },
        {
          when: "after",
          told: "turn-completed",
          act: (id) => client.answerApproval({ session: id, decision: "denied" }),
        },
        ended,
      ],
    },
  ];
  return Array.from({ length: 24 }, (_, index) => ({
    name: `practice-${index}`,
    ...(kinds[index % kinds.length] as Omit<Part, "name">),
  }));
}

async function inBatches<T, R>(items: readonly T[], act: (item: T) => Promise<R>): Promise<readonly R[]> {
  const results: R[] = [];
  for (let at = 0; at < items.length; at += BATCH)
    results.push(...(await Promise.all(items.slice(at, at + BATCH).map(act))));
  return results;
}

/** Waits, and goes on from the cursor it got, until the session is dead. */
function waitOn(part: Part, id: string, from: number): Waiter {
  const told: Told[] = [];
  const isOver = (async () => {
    for (let since = from; told.at(-1)?.reason !== "exited"; since = told.at(-1)?.cursor ?? since) {
      const answer = await client.waitForSession({ session: id, since, timeout_seconds: 600 });
      const { reason, cursor, session, woken } = answer;
      told.push({
        reason,
        cursor,
        sessions: [session.session_id, ...woken.map(({ session_id }) => session_id)],
        exit: session.exit,
      });
    }
  })();
  isOver.catch(() => undefined);
  return { part, id, told, isOver };
}

async function start(part: Part): Promise<Waiter> {
  const { name, agent, prompt } = part;
  if (agent === "command") execFileSync("mkfifo", [fifoOf(name)]);
  const args = agent === "command" ? ["sh", "-c", 'read -r line < "$0"; eval "$line"', fifoOf(name)] : [];
  const given = { name, agent, args, cwd: home.dir, environment: home.environment };
  const { session_id, cursor } = await client.startSession({ ...given, ...(prompt === undefined ? {} : { prompt }) });
  if (prompt !== undefined) return waitOn(part, session_id, cursor);
  if (agent === "practice") await eventually("it takes input", () => shows("Words it knows")(session_id), PATIENCE_MS);
  // Nothing was asked of it: what comes is waited for, whoever causes it.
  return waitOn(part, session_id, (await client.listSessions()).cursor);
}

/** Does what is due, step by step in each session, and waits until each waiter was told of it. */
async function play(waiters: readonly Waiter[], when: When): Promise<void> {
  await inBatches(waiters, async ({ part, id, told }) => {
    for (const [index, step] of part.steps.entries()) {
      if (step.when !== when) continue;
      await step.act?.(id);
      const isKnown = () => (when === "absent" ? (step.isDone?.(id) ?? true) : told.length > index);
      await eventually(`${part.name}: ${step.told}`, isKnown, PATIENCE_MS).catch(async (error: unknown) => {
        throw new Error(`${String(error)}; its screen: ${await screenOf(home, id).catch(String)}`);
      });
    }
  });
}

const reasons = ({ told }: Waiter): readonly string[] => told.map(({ reason }) => reason);
const until = ({ part }: Waiter, ...phases: readonly When[]): readonly string[] =>
  part.steps.filter(({ when }) => phases.includes(when)).map(({ told }) => told);

test("a hundred waiters across a kill -9: each is told what happened to its own session, once and in order", async () => {
  const waiters = await inBatches([...commands(), ...agents()], start);
  expect(new Set(waiters.map(({ id }) => id)).size).toBe(100);
  await play(waiters, "before");

  // Whoever waits would start another daemon at once: the lock for that is held until enough has happened.
  const lock = acquireProcessLock(join(home.dir, "run", "start.lock"));
  expect(lock).not.toBeNull();
  expect(home.killRunningDaemon()).toBe(true);
  await eventually("there is no daemon", async () => (await askDaemon(home, "/v1/daemon")) === null);
  await play(waiters, "absent");
  expect(await askDaemon(home, "/v1/daemon")).toBeNull();
  for (const waiter of waiters)
    expect([waiter.part.name, ...reasons(waiter)]).toEqual([waiter.part.name, ...until(waiter, "before")]);
  lock?.release();

  const reached = (waiter: Waiter) => waiter.told.length >= until(waiter, "before", "absent").length;
  await eventually("each was told what it missed", () => waiters.every(reached), PATIENCE_MS);
  // Once more, and nobody holds anybody back: whoever comes first starts the next one.
  expect(home.killRunningDaemon()).toBe(true);
  await play(waiters, "after");
  await Promise.all(waiters.map(({ isOver }) => isOver));

  const events = await home.events();
  expect(events.filter(({ type }) => type === "daemon-started")).toHaveLength(3);
  for (const waiter of waiters) {
    const { id, part, told } = waiter;
    expect([part.name, ...reasons(waiter)]).toEqual([part.name, ...until(waiter, "before", "absent", "after")]);
    expect(told.map(({ cursor }) => cursor)).toEqual(events.filter((event) => wakes(event, id)).map(({ seq }) => seq));
    for (const { sessions } of told) expect(new Set(sessions)).toEqual(new Set([id]));
    const index = Number(part.name.split("-")[1]);
    if (part.agent !== "command") continue;
    const exit = index % 2 === 0 ? { code: index, signal: null } : { code: 137, signal: "SIGKILL" };
    expect(told.at(-1)?.exit).toMatchObject(exit);
  }
}, 400_000);

/** One event for each fact that ends a wait. */
function wakes({ session_id, type, data }: EventRow, id: string): boolean {
  if (session_id !== id) return false;
  if (type === "session-stopped" || type === "session-errored") return data["is_after_exit"] !== true;
  return ["turn-completed", "turn-failed", "approval-requested", "session-exited"].includes(type);
}
