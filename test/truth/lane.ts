/**
 * One session of a case: starts it, talks to it, presses keys in its pane, and
 * writes down what was done and what really came of it. It waits on the truth
 * (the model, the kernel, the agent's files), and on Reeve only to catch up.
 */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { RecordedRequest } from "../scripted-model/record.ts";
import type { Result } from "../support/test-home.ts";
import { agentFiles } from "./agent-files.ts";
import type { AgentFiles } from "./agent-files.ts";
import { AGENTS, userEnvironment } from "./agent-setup.ts";
import type { Mode } from "./case.ts";
import type { DraftAtHand } from "./draft-at-hand.ts";
import { draftAtHand } from "./draft-at-hand.ts";
import type { Finding, Kind } from "./finding.ts";
import type { Deed } from "./ground-truth.ts";
import type {
  Event,
  FailedCommand,
  History,
  Interrupt,
  LooseWait,
  Sample,
  Sent,
  TrueDeath,
  TrueTurn,
} from "./history.ts";
import { outcomeOf } from "./judge-messages.ts";
import { laneTruth } from "./lane-truth.ts";
import { leftBehind } from "./left-behind.ts";
import type { Machine } from "./machine.ts";
import type { PaneKeys } from "./pane-keys.ts";
import { paneKeys } from "./pane-keys.ts";
import type { ProcessWatch } from "./process-watch.ts";
import { watchProcesses } from "./process-watch.ts";
import type { TextKind } from "./prompts.ts";
import { promptOf } from "./prompts.ts";
import type { Waiter } from "./waiter.ts";
import { startWaiter } from "./waiter.ts";
import type { Row, World } from "./world.ts";

/** Longer than any agent takes for one step on a busy machine. */
const PATIENCE_MS = 45_000;

/** It did not come to rest; the rest of the lane makes no sense. */
export class Stuck extends Error {}

/** What the episode was to begin with was honestly told as not known to have arrived: there is no episode. */
export class NotBegun extends Error {}
/** The agent cannot go on with its conversation, and said so: only the end is of interest. */
export class CannotGoOn extends Error {}

/**
 * The daemon was killed after a start was answered and before its process was there, because tmux hung, and the caller's
 * environment with it: nothing keeps that. Reeve says so (docs/spec/agent-lifecycle.md), and there is no session.
 */
export class EnvironmentLost extends Error {}
const ENVIRONMENT_LOST = "environment-lost";

export interface Lane {
  readonly mode: Mode;
  readonly world: World;
  readonly files: AgentFiles;
  readonly pane: PaneKeys;
  readonly processes: ProcessWatch;
  sessionId(): string;
  /** As `list` last said. */
  activity(): string;
  state(): string;
  /** Where commands that are asked for leave a file; it tells whether they ran. */
  file(tag: string): string;
  start(kind: TextKind | null): Promise<void>;
  /** Over the CLI; the answer is not waited for longer than `timeoutSeconds`. */
  send(kind: TextKind, how?: "queue" | "steer" | "interrupt", timeoutSeconds?: number): Promise<Sent>;
  /** Asks for the turn to be stopped, with a message of this kind or with `interrupt` alone. */
  interrupt(about: Pick<Interrupt, "turn" | "isUnderWay">, kind: TextKind | null): Promise<void>;
  /** As `send`, then `wait` without a cursor, both over the CLI. */
  sendAndWait(kind: TextKind): Promise<void>;
  /** Types it into the pane, with Enter, as a person would. */
  typePrompt(kind: TextKind): Promise<Sent>;
  /** Types it as a person who does not send it yet. */
  draft(kind: TextKind): Promise<DraftAtHand>;
  /** Runs `reeve … --json` as the user of this lane; what must not fail is written down when it does. */
  reeve(words: readonly string[], isExpected?: (result: Result) => boolean): Promise<Result>;
  turns(): readonly TrueTurn[];
  requests(): readonly RecordedRequest[];
  events(): readonly Event[];
  /** The harness is about to stop a turn. */
  noteStop(): void;
  addQuestion(subject: string, count: number): () => void;
  addDialog(what: string): () => void;
  noteTranscriptDeleted(): void;
  isTranscriptDeleted(): boolean;
  /** Its outcome is told as unknown or refused, and it is not there: nothing will come of it. */
  isGivenUp(message: Sent): boolean;
  /** Something that is wrong, seen while it happened. */
  found(kind: Kind, text: string): void;
  /** What was sent and has not arrived yet need not: the session goes away. */
  forgive(): void;
  /** Until the truth is so; gives up after a while. */
  until(what: string, look: () => boolean | Promise<boolean>, patienceMs?: number): Promise<void>;
  /** Everything that was sent is through, and Reeve has caught up. */
  settle(): Promise<void>;
  /** Stops watching and tells all. */
  finish(stuck: string | null): Promise<History>;
}

export async function createLane(world: World, mode: Mode, index: number, machine: Machine): Promise<Lane> {
  const { home, client, model } = world;
  const prefix = `/s/${index}`;
  const [userDir, workDir] = ["user", "work"].map((name) => join(home.dir, `${name}-${index}`)) as [string, string];
  mkdirSync(userDir);
  mkdirSync(workDir);
  const path = home.environment["PATH"] ?? "";
  const environment = await userEnvironment(mode, userDir, workDir, `${model.url}${prefix}`, path);
  const beganAt = Date.now();

  let sessionId = "";
  let outputsDir: string | null = null;
  let count = 0;
  let latest: Row | null = null;
  let waiter: Waiter | null = null;
  let transcriptDeletedAt: number | null = null;
  const sent: Sent[] = [];
  const steered = new Set<string>();
  const deeds: Deed[] = [];
  const samples: Sample[] = [];
  const questions: { subject: string; askedAt: number; settledAt: number | null; count: number }[] = [];
  const dialogs: { from: number; to: number | null; what: string }[] = [];
  const failedCommands: FailedCommand[] = [];
  const looseWaits: LooseWait[] = [];
  const interrupts: Interrupt[] = [];
  const drafts: DraftAtHand[] = [];
  const seen: Finding[] = [];
  const requests = (): readonly RecordedRequest[] => model.requests({ prefix, hidden: false });
  const files = agentFiles(mode, () => (mode === "practice" ? outputsDir : userDir));
  const truth = laneTruth(mode, files, workDir, requests, { retriesForever: mode === "gemini", deeds, steered });
  const pane = paneKeys(world, () => sessionId);
  const processes = watchProcesses(
    home,
    () => sessionId,
    ({ at }: TrueDeath) => void deeds.push({ what: "death", at }),
  );

  world.onRow((row) => {
    if (row.session.session_id !== sessionId) return;
    latest = row;
    samples.push(sampleOf(row));
  });

  function sampleOf({ askedAt, answeredAt, session }: Row): Sample {
    const claimsEnd = ["exited", "absent"].includes(session.liveness);
    return {
      askedAt,
      answeredAt,
      state: session.state,
      liveness: session.liveness,
      activity: session.activity,
      observability: session.observability.status,
      isAlive: claimsEnd ? processes.wasAliveSince(askedAt) : null,
      hasTranscript: session.observability.status === "lost" ? files.list().length > 0 : null,
    };
  }

  function nextText(kind: TextKind): { readonly tag: string; readonly text: string } {
    const tag = `q${index}n${++count}q`;
    return { tag, text: promptOf(mode, kind, tag, lane.file(tag)) };
  }

  function add(message: Pick<Sent, "tag" | "text" | "how" | "at">, messageId: string | null = null): Sent {
    const isAcknowledged = messageId !== null || message.how === "start" || message.how === "person";
    const one: Sent = { ...message, messageId, isAcknowledged, mayBeMissing: false };
    sent.push(one);
    return one;
  }

  function isThrough(message: Sent): boolean {
    if (message.mayBeMissing || !message.isAcknowledged || message.how === "person") return true;
    if (message.how === "start") return truth.arrivals().some(({ text }) => text.includes(message.tag));
    return outcomeOf(lane.events(), message) !== null;
  }

  const isLost = (): boolean =>
    lane
      .events()
      .some(({ data }) => (data["reason"] as { readonly code?: string } | undefined)?.code === ENVIRONMENT_LOST);

  /** What keeps it from being at rest; null when nothing does. */
  function restless(): string | null {
    const open = truth.turns().find(({ verdict }) => verdict === "open");
    if (open !== undefined) return `the turn "${open.prompt.slice(0, 60)}" is not over`;
    const waiting = sent.find((message) => !isThrough(message));
    if (waiting !== undefined) return `the message ${waiting.tag} (${waiting.how}) is neither there nor told of`;
    if (latest === null) return "list has not shown it yet";
    const { state, activity, turn_open: isTurnOpen } = latest.session;
    if (!processes.isAlive()) return ["error", "stopped"].includes(state) ? null : `list says ${state} of what is dead`;
    if (state !== "running") return `list says ${state}`;
    if (mode === "command" || (activity === "idle" && !isTurnOpen)) return null;
    return `list says ${activity}, turn ${isTurnOpen ? "open" : "over"}`;
  }

  const lane: Lane = {
    mode,
    world,
    files,
    pane,
    processes,
    sessionId: () => sessionId,
    activity: () => latest?.session.activity ?? "",
    state: () => latest?.session.state ?? "",
    file: (tag) => join(workDir, `made-${tag}`),
    async start(kind) {
      const { agent, args } = AGENTS[mode];
      const first = kind === null || mode === "command" ? null : nextText(kind);
      const at = Date.now();
      const prompt = first === null ? [] : [first.text];
      const words = ["start", agent, ...prompt, "--cwd", workDir, "--name", `lane-${index}`];
      const { stdout } = await lane.reeve([...words, ...(args.length === 0 ? [] : ["--", ...args])]);
      const answer = answerOf<{ session_id?: string; outputs_dir?: string }>(stdout);
      if (answer.session_id === undefined) throw new Stuck("the start was refused");
      sessionId = answer.session_id;
      outputsDir = answer.outputs_dir ?? null;
      if (first !== null) add({ ...first, how: "start", at });
      waiter = startWaiter(client, sessionId, (error) => world.fail("client.waitForSession", error));
      await lane.until("its process is there", () => processes.main() !== null);
    },
    async send(kind, how = "queue", timeoutSeconds = 0) {
      const { tag, text } = nextText(kind);
      if (how === "steer") steered.add(tag);
      const at = Date.now();
      const flags = how === "queue" ? [] : [`--${how}`];
      const words = ["send", sessionId, text, "--timeout", String(timeoutSeconds), ...flags];
      // Any outcome is an answer: whether it is true is for the judge.
      const { stdout } = await lane.reeve(words, (result) => /"message_id"/.test(result.stdout));
      return add({ tag, text, how, at }, answerOf<{ message_id?: string }>(stdout).message_id ?? null);
    },
    async interrupt(about, kind) {
      const open = sent.filter((one) => one.tag !== about.turn && !isThrough(one));
      // What it was started with is no message that waits: its turn is under way from the start.
      const first = open.find(({ how: given }) => given === "start");
      const late = open.filter((one) => one !== first).map(({ tag }) => tag);
      const waiting = [...late, ...drafts.filter(({ draft }) => draft.to === null).map(({ draft }) => draft.tag)];
      const at = Date.now();
      for (const turn of [about.turn, first?.tag ?? null]) if (turn !== null) deeds.push({ what: "stop", at, turn });
      const message = kind === null ? null : await lane.send(kind, "interrupt");
      if (message === null) await lane.reeve(["interrupt", sessionId]);
      interrupts.push({ ...about, at, answeredAt: Date.now(), tag: message?.tag ?? null, waiting });
    },
    async sendAndWait(kind) {
      const { tag } = await lane.send(kind, "queue", 20);
      const askedAt = Date.now();
      const words = ["wait", sessionId, "--timeout", "30"];
      const { stdout } = await lane.reeve(words, (result) => /"reason"/.test(result.stdout));
      const { reason = "nothing" } = answerOf<{ reason?: string }>(stdout);
      looseWaits.push({ askedAt, answeredAt: Date.now(), reason, tag });
    },
    async typePrompt(kind) {
      const { tag, text } = nextText(kind);
      const at = Date.now();
      await pane.type(text);
      await lane.until("the text is on the screen", async () => (await pane.screen()).includes(tag), 15_000);
      // Nobody is faster; and an Enter right behind a text is a part of it for agents that take both for a paste.
      await sleep(400);
      await pane.press("Enter");
      return add({ tag, text, how: "person", at });
    },
    async draft(kind) {
      const { tag, text } = nextText(kind);
      await pane.type(text);
      await lane.until("the draft is on the screen", async () => (await pane.screen()).includes(tag), 15_000);
      const draft = draftAtHand(pane, tag, (at) => void add({ tag, text, how: "person", at }));
      drafts.push(draft);
      return draft;
    },
    async reeve(words, isExpected = (result) => result.status === 0) {
      const at = Date.now();
      const separator = words.indexOf("--");
      const end = separator === -1 ? words.length : separator;
      const line = [...words.slice(0, end), "--json", ...words.slice(end)];
      const result = await home.run(line, { environment });
      const { status, stdout, stderr } = result;
      if (!isExpected(result))
        failedCommands.push({ at, words: `reeve ${line.join(" ").slice(0, 120)}`, status, output: stdout + stderr });
      return result;
    },
    turns: truth.turns,
    requests,
    events: () => world.eventsOf(sessionId),
    noteStop: () => void deeds.push({ what: "stop", at: Date.now() }),
    addQuestion(subject, howMany) {
      const question = { subject, askedAt: Date.now(), settledAt: null as number | null, count: howMany };
      questions.push(question);
      return () => void (question.settledAt ??= Date.now());
    },
    addDialog(what) {
      const span = { from: Date.now(), to: null as number | null, what };
      dialogs.push(span);
      return () => void (span.to ??= Date.now());
    },
    found: (kind, text) => void seen.push({ kind, text, at: Date.now() }),
    isTranscriptDeleted: () => transcriptDeletedAt !== null,
    isGivenUp(message) {
      const outcome = outcomeOf(lane.events(), message);
      const isMissing = !truth.arrivals().some(({ text }) => text.includes(message.tag));
      return isMissing && (outcome === "unknown" || outcome === "refused");
    },
    noteTranscriptDeleted: () => void (transcriptDeletedAt ??= Date.now()),
    forgive() {
      const here = truth.arrivals();
      sent.forEach((message, at) => {
        if (!here.some(({ text }) => text.includes(message.tag))) sent[at] = { ...message, mayBeMissing: true };
      });
    },
    async until(what, look, patienceMs = PATIENCE_MS) {
      const since = Date.now();
      while (!(await look())) {
        if (isLost()) throw new EnvironmentLost();
        if (Date.now() - since > patienceMs + 20 * machine.lagSince(since))
          throw new Stuck(`not within ${Math.round((Date.now() - since) / 1_000)} s: ${what}`);
        await sleep(40);
      }
    },
    async settle() {
      let why: string | null = "";
      try {
        await lane.until("it comes to rest", () => (why = restless()) === null);
      } catch (error) {
        throw error instanceof Stuck ? new Stuck(`${error.message}: ${why}`) : error;
      }
      await waiter?.caughtUp(lane.events);
    },
    async finish(stuck) {
      await waiter?.caughtUp(lane.events);
      const wakes = (await waiter?.stop()) ?? [];
      const events = lane.events();
      return {
        mode,
        turns: truth.turns(),
        questions,
        dialogs,
        ...processes.stop(events),
        arrivals: truth.arrivals(),
        sent,
        interrupts,
        drafts: drafts.map(({ draft }) => draft),
        events,
        samples,
        wakes,
        looseWaits,
        disturbances: world.disturbances.map((span) => ({ ...span })),
        transcriptDeletedAt,
        failedCommands,
        trace: truth.trace(),
        seen,
        leftBehind: lane.state() === "stopped" ? await leftBehind(home, sessionId, pane) : [],
        stuck,
        isEnvironmentLost: isLost(),
        lagMs: machine.lagSince(beganAt),
        finishedAt: Date.now(),
      };
    },
  };

  return lane;
}

function answerOf<T extends object>(stdout: string): Partial<T> {
  try {
    return JSON.parse(stdout) as Partial<T>;
  } catch {
    return {};
  }
}
