/**
 * Kills the daemon again and again while several clients send messages to many
 * sessions, and counts in the end: each acknowledged message arrived once and
 * alone, every session has its one process, and what was acknowledged holds.
 */
import { setTimeout as sleep } from "node:timers/promises";
import type { Mode } from "./case.ts";
import type { Finding } from "./finding.ts";
import { createKillLane } from "./kill-lane.ts";
import type { KillLane } from "./kill-lane.ts";
import { createRandom } from "./random.ts";
import type { Random } from "./random.ts";
import { createWorld } from "./world.ts";
import type { World } from "./world.ts";

export interface KillOptions {
  readonly kills: number;
  readonly sessions: number;
  readonly seed: string;
  /** Of the sessions, one each; the others are practice agents and plain commands. */
  readonly agents: readonly Mode[];
  readonly onProgress?: (line: string) => void;
}

export interface KillResult {
  readonly kills: number;
  readonly sessions: number;
  readonly sent: number;
  readonly delivered: number;
  /** Told as unknown: honest, and counted apart. */
  readonly unknown: number;
  readonly refused: number;
  /** Not acknowledged: the sender was told that it failed. */
  readonly unacknowledged: number;
  /** Starts, pauses, resumes and ends that were acknowledged meanwhile. */
  readonly operations: number;
  readonly recoveries: readonly number[];
  readonly findings: readonly Finding[];
}

/** Reeve's own session of tmux, which keeps the server alive and holds every window. */
const ANCHOR = "reeve-anchor";
const SENDERS = 4;
const SETTLE_MS = 180_000;

export async function runKills(options: KillOptions): Promise<KillResult> {
  const random = createRandom(`kills/${options.seed}`);
  const world = await createWorld(
    '[sessions]\nhealth_interval_seconds = 2\nend_grace_seconds = 3\n[agent.codex]\nmode = "app-server"\n',
  );
  const findings: Finding[] = [];
  const lanes: KillLane[] = [];
  const recoveries: number[] = [];
  const guests: Guest[] = [];
  try {
    for (const [index, mode] of modesFor(options).entries()) lanes.push(await createKillLane(world, mode, index));
    await until(() => lanes.every((lane) => lane.isReady()), SETTLE_MS);
    const stop = new AbortController();
    const work = [
      ...Array.from({ length: SENDERS }, (_, index) =>
        keepSending(lanes, createRandom(`${options.seed}/${index}`), stop.signal),
      ),
      keepOperating(world, lanes, guests, createRandom(`${options.seed}/operations`), stop.signal),
    ];
    for (let count = 1; count <= options.kills; count++) {
      recoveries.push(await killOnce(world, random));
      if (count % 50 === 0)
        options.onProgress?.(`${count} kills, ${lanes.reduce((sum, lane) => sum + lane.sent.length, 0)} messages`);
    }
    stop.abort();
    await Promise.all(work);
    await until(() => lanes.every((lane) => lane.isSettled()), SETTLE_MS);
    findings.push(
      ...lanes.flatMap((lane) => lane.judge()),
      ...(await judgeProcesses(world, lanes)),
      ...(await judgeGuests(world, guests)),
    );
  } finally {
    const { leftBehind, diedUnasked, failedCalls } = await world.close();
    findings.push(
      ...leftBehind.map((text) => ({ kind: "left-behind" as const, text, at: Date.now() })),
      ...diedUnasked.map((text) => ({ kind: "daemon-died" as const, text, at: Date.now() })),
      ...failedCalls.map(({ words, output, at }) => ({
        kind: "command-failed" as const,
        text: `${words}: ${output}`,
        at,
      })),
    );
  }
  const count = (pick: (lane: KillLane) => number): number => lanes.reduce((sum, lane) => sum + pick(lane), 0);
  return {
    kills: options.kills,
    sessions: lanes.length,
    sent: count((lane) => lane.sent.length),
    delivered: count((lane) => lane.told("delivered")),
    unknown: count((lane) => lane.told("unknown")),
    refused: count((lane) => lane.told("refused")),
    unacknowledged: count((lane) => lane.sent.filter(({ isAcknowledged }) => !isAcknowledged).length),
    operations: guests.reduce((sum, guest) => sum + guest.acknowledged, 0),
    recoveries,
    findings,
  };
}

function modesFor({ sessions, agents }: KillOptions): readonly Mode[] {
  const real = agents
    .filter((mode) => mode !== "practice" && mode !== "command" && mode !== "codex-hooks")
    .slice(0, sessions);
  const rest = Array.from({ length: sessions - real.length }, (_, index): Mode =>
    index % 2 === 0 ? "practice" : "command",
  );
  return [...real, ...rest];
}

/**
 * At a random instant after the one before has answered: at once, while it takes things up, or when it has had the time
 * to deliver something. Otherwise no message would ever be on its way.
 */
async function killOnce(world: World, random: Random): Promise<number> {
  const [least, most] = random.pick([[0, 30] as const, [30, 700] as const, [30, 700] as const, [700, 3_000] as const]);
  await sleep(random.int(least, most));
  while (!world.killDaemon()) await sleep(2);
  const killedAt = performance.now();
  if (random.chance(0.1)) {
    await sleep(random.int(20, 250));
    return performance.now() - killedAt + (await killAgain(world));
  }
  await world.client.listSessions({});
  return performance.now() - killedAt;
}

/** The next daemon dies before it has answered anybody, if it is there by now. */
async function killAgain(world: World): Promise<number> {
  world.killDaemon();
  const killedAt = performance.now();
  await world.client.listSessions({});
  return performance.now() - killedAt;
}

async function keepSending(lanes: readonly KillLane[], random: Random, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const lane = random.pick(lanes);
    if (lane.mayTakeMore()) await lane.send(random.pick([0, 0, 1, 5]));
    await sleep(random.int(0, 60));
  }
}

/** A session that comes and goes beside the others, so that more than messages is acknowledged. */
interface Guest {
  readonly id: string;
  acknowledged: number;
  isEnded: boolean;
}

async function keepOperating(
  { client, home, fail }: World,
  lanes: readonly KillLane[],
  guests: Guest[],
  random: Random,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    try {
      const started = await client.startSession({
        agent: "command",
        args: ["sleep", "600"],
        cwd: home.dir,
        environment: home.environment,
      });
      const guest: Guest = { id: started.session_id, acknowledged: 1, isEnded: false };
      guests.push(guest);
      const paused = random.pick(lanes).sessionId;
      await client.pauseSession({ session: paused });
      await client.resumeSession({ session: paused });
      await client.endSession({ session: guest.id, when: "now", grace_seconds: 0 });
      guest.acknowledged += 3;
      guest.isEnded = true;
    } catch (error) {
      fail("an operation", error);
    }
    await sleep(random.int(100, 800));
  }
}

async function judgeGuests({ client }: World, guests: readonly Guest[]): Promise<readonly Finding[]> {
  const { sessions } = await client.listSessions({ all: true, limit: 1_000 });
  return guests.flatMap(({ id, isEnded }) => {
    const row = sessions.find((session) => session.session_id === id);
    const found = (text: string): readonly Finding[] => [{ kind: "lost", text, at: Date.now() }];
    if (row === undefined) return found(`the start of ${id} was acknowledged, and it is not listed`);
    return isEnded && row.state !== "stopped" ? found(`the end of ${id} was acknowledged, and it is ${row.state}`) : [];
  });
}

/** Sessions without a process, processes and panes without a session, two where one should be. */
async function judgeProcesses(world: World, lanes: readonly KillLane[]): Promise<readonly Finding[]> {
  const { sessions } = await world.client.listSessions({ all: true, limit: 1_000 });
  const living = new Set(
    sessions.filter(({ state }) => state !== "stopped" && state !== "error").map(({ session_id }) => session_id),
  );
  const found = (text: string): Finding => ({ kind: "left-behind", text, at: Date.now() });
  const panes = (await world.tmux("list-panes", "-a", "-F", "#{session_name}"))
    .split("\n")
    .filter((name) => name !== "" && name !== ANCHOR);
  const findings = [
    ...panes
      .filter((name) => !living.has(name))
      .map((name) => found(`the pane of ${name} belongs to no living session`)),
    ...[...living]
      .filter((id) => panes.filter((name) => name === id).length !== 1)
      .map((id) => found(`session ${id} has ${panes.filter((name) => name === id).length} panes`)),
  ];
  for (const lane of lanes) {
    const row = sessions.find(({ session_id }) => session_id === lane.sessionId);
    if (row?.state !== "running" || row.liveness !== "running")
      findings.push({
        kind: "false-ended",
        text: `${lane.mode} ${lane.sessionId} lives, and list says ${row?.state}, ${row?.liveness}`,
        at: Date.now(),
      });
    if (!lane.isSameProcess())
      findings.push(found(`the process of ${lane.mode} ${lane.sessionId} is not the one it began with`));
    const incarnations = new Set(world.home.marked(lane.sessionId).map(({ incarnation }) => incarnation));
    if (incarnations.size !== 1)
      findings.push(found(`session ${lane.sessionId} has processes of ${incarnations.size} incarnations`));
  }
  const strangers = world.home.marked().length - [...living].reduce((sum, id) => sum + world.home.marked(id).length, 0);
  if (strangers > 0) findings.push(found(`${strangers} processes carry the mark of no living session`));
  return findings;
}

async function until(look: () => boolean, patienceMs: number): Promise<void> {
  for (const endsAt = Date.now() + patienceMs; !look() && Date.now() < endsAt;) await sleep(100);
}
