/**
 * One session of a case: starts it, talks to it, presses keys in its pane, and
 * writes down what was done and what really came of it. It waits on the truth
 * (the model, the kernel, the agent's files), and on Reeve only to catch up.
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { claudeHome, codexHome, geminiHome } from "../scripted-model/agent-homes.ts";
import type { RecordedRequest } from "../scripted-model/record.ts";
import type { Result } from "../support/test-home.ts";
import { agentFiles } from "./agent-files.ts";
import type { AgentFiles } from "./agent-files.ts";
import type { Mode } from "./case.ts";
import type { Finding, Kind } from "./finding.ts";
import type { Deed, TurnRules } from "./ground-truth.ts";
import { arrivalsOf, practiceArrivals, practiceTurns, tagOf, turnsOf } from "./ground-truth.ts";
import type {
  Arrival,
  Event,
  FailedCommand,
  History,
  LooseWait,
  Sample,
  Sent,
  Span,
  TrueDeath,
  TrueQuestion,
  TrueTurn,
} from "./history.ts";
import { outcomeOf } from "./judge-messages.ts";
import { isThere, mainProcess } from "./kernel.ts";
import type { NamedProcess } from "./kernel.ts";
import type { Machine } from "./machine.ts";
import type { TextKind } from "./prompts.ts";
import { promptOf } from "./prompts.ts";
import type { Waiter } from "./waiter.ts";
import { startWaiter } from "./waiter.ts";
import type { Row, World } from "./world.ts";

/** Longer than any agent takes for one step on a busy machine. */
const PATIENCE_MS = 45_000;

/** It did not come to rest; the rest of the lane makes no sense. */
export class Stuck extends Error {}

const AGENTS: Readonly<Record<Mode, { readonly agent: string; readonly args: readonly string[] }>> = {
  claude: { agent: "claude", args: ["--allowedTools", "Bash(echo:*)", "Bash(sleep:*)", "Agent", "Task"] },
  gemini: { agent: "gemini", args: [] },
  codex: { agent: "codex", args: codexArguments() },
  "codex-hooks": { agent: "codex", args: codexArguments() },
  practice: { agent: "practice", args: [] },
  command: { agent: "command", args: ["sh", "-c", "exec cat > received"] },
};

export interface Lane {
  readonly mode: Mode;
  readonly world: World;
  readonly files: AgentFiles;
  sessionId(): string;
  /** As `list` last said. */
  activity(): string;
  state(): string;
  marked(): ReturnType<World["home"]["marked"]>;
  /** A text that the harness made the agent take, and that carries no tag. */
  addPersonText(text: string): void;
  /** Where commands that are asked for leave a file; it tells whether they ran. */
  file(tag: string): string;
  start(kind: TextKind | null): Promise<void>;
  /** Over the CLI; the answer is not waited for longer than `timeoutSeconds`. */
  send(kind: TextKind, how?: "queue" | "steer" | "interrupt", timeoutSeconds?: number): Promise<Sent>;
  /** As `send`, then `wait` without a cursor, both over the CLI. */
  sendAndWait(kind: TextKind): Promise<void>;
  /** Types it into the pane, with Enter, as a person would. */
  typePrompt(kind: TextKind): Promise<Sent>;
  /** A text of the agent's own, such as /quit, which no model sees. */
  sendRaw(text: string): Promise<void>;
  press(...keys: readonly string[]): Promise<void>;
  type(text: string): Promise<void>;
  screen(): Promise<string>;
  reeve(words: readonly string[], isExpected?: (result: Result) => boolean): Promise<Result>;
  turns(): readonly TrueTurn[];
  requests(): readonly RecordedRequest[];
  events(): readonly Event[];
  main(): NamedProcess | null;
  isAlive(): boolean;
  /** The harness is about to do something that ends a turn or the process. */
  note(what: Deed["what"], cause?: TrueDeath["cause"]): void;
  addQuestion(subject: string, count: number): () => void;
  addDialog(what: string): () => void;
  markTranscriptDeleted(): void;
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
  const userDir = join(home.dir, `user-${index}`);
  const workDir = join(home.dir, `work-${index}`);
  mkdirSync(userDir);
  mkdirSync(workDir);
  const environment = await userEnvironment(
    mode,
    userDir,
    workDir,
    `${model.url}${prefix}`,
    home.environment["PATH"] ?? "",
  );
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
  const causes: { readonly at: number; readonly cause: TrueDeath["cause"] }[] = [];
  const samples: Sample[] = [];
  const questions: { subject: string; askedAt: number; settledAt: number | null; count: number }[] = [];
  const dialogs: { from: number; to: number | null; what: string }[] = [];
  const failedCommands: FailedCommand[] = [];
  const looseWaits: LooseWait[] = [];
  const seen: Finding[] = [];
  const mains = new Map<number, NamedProcess>();
  const deaths: TrueDeath[] = [];
  const files = agentFiles(mode, () => (mode === "practice" ? outputsDir : userDir));
  const rules = (): TurnRules => ({ retriesForever: mode === "gemini", deeds, steered });

  world.onRow((row) => {
    if (row.session.session_id !== sessionId) return;
    latest = row;
    samples.push(sampleOf(row));
  });
  const kernelTimer = setInterval(watchKernel, 100);

  /** The incarnation is read off the processes themselves: each carries it in its mark. */
  function watchKernel(): void {
    if (sessionId === "") return;
    const newest = Math.max(0, ...mains.keys());
    const known = mains.get(newest);
    if (known === undefined || !isThere(known)) {
      if (known !== undefined && !deaths.some(({ incarnation }) => incarnation === newest)) addDeath(newest);
      for (const incarnation of new Set(home.marked(sessionId).map((found) => found.incarnation))) {
        if (mains.has(incarnation)) continue;
        const found = mainProcess(home, sessionId, incarnation);
        if (found !== null) mains.set(incarnation, found);
      }
    }
  }

  function addDeath(incarnation: number): void {
    const at = Date.now();
    const cause = causes.findLast((one) => at - one.at < 30_000)?.cause ?? "exited";
    deaths.push({ incarnation, at, cause });
    deeds.push({ what: "death", at });
  }

  function sampleOf({ askedAt, answeredAt, session }: Row): Sample {
    const main = mains.get(Math.max(0, ...mains.keys()));
    const claimsEnd = ["exited", "absent"].includes(session.liveness);
    return {
      askedAt,
      answeredAt,
      state: session.state,
      liveness: session.liveness,
      activity: session.activity,
      observability: session.observability.status,
      isAlive: claimsEnd && main !== undefined ? isThere(main) : null,
      hasTranscript: session.observability.status === "lost" ? files.list().length > 0 : null,
    };
  }

  async function reeve(
    words: readonly string[],
    isExpected = (result: Result) => result.status === 0,
  ): Promise<Result> {
    const at = Date.now();
    const separator = words.indexOf("--");
    const end = separator === -1 ? words.length : separator;
    const line = [...words.slice(0, end), "--json", ...words.slice(end)];
    const result = await home.run(line, { environment });
    if (!isExpected(result))
      failedCommands.push({
        at,
        words: `reeve ${line.join(" ").slice(0, 120)}`,
        status: result.status,
        output: result.stdout + result.stderr,
      });
    return result;
  }

  function nextText(kind: TextKind): { readonly tag: string; readonly text: string } {
    const tag = `q${index}n${++count}q`;
    return { tag, text: promptOf(mode, kind, tag, lane.file(tag)) };
  }

  function settled({ messageId, how, isAcknowledged }: Sent): boolean {
    if (how === "start" || how === "person" || !isAcknowledged) return true;
    return outcomeOf(lane.events(), { messageId, how } as Sent) !== null;
  }

  function arrivals(): readonly Arrival[] {
    if (mode === "practice") return practiceArrivals(readIfThere(files.list()[0]));
    if (mode === "command") return linesArrived(readIfThere(join(workDir, "received")));
    const found = arrivalsOf(lane.requests(), lane.turns());
    const known = new Set(found.map(({ text }) => tagOf(text)));
    const onDisk = files.typed().filter((text) => tagOf(text) !== "" && !known.has(tagOf(text)));
    return [...found, ...onDisk.map((text) => ({ text, at: Date.now(), times: 1 }))];
  }

  /** What keeps it from being at rest; null when nothing does. */
  function restless(): string | null {
    const open = lane.turns().find(({ verdict }) => verdict === "open");
    if (open !== undefined) return `the turn "${open.prompt.slice(0, 60)}" is not over`;
    const waiting = sent.find((message) => !settled(message) && !message.mayBeMissing);
    if (waiting !== undefined) return `no outcome is told of the message ${waiting.tag}`;
    const missing = sent.find(
      ({ how, tag, mayBeMissing }) =>
        how === "start" && !mayBeMissing && !arrivals().some(({ text }) => text.includes(tag)),
    );
    if (missing !== undefined) return `the first prompt ${missing.tag} has not arrived`;
    const row = latest;
    if (row === null) return "list has not shown it yet";
    if (!lane.isAlive())
      return ["error", "stopped"].includes(row.session.state) ? null : `list says ${row.session.state} of what is dead`;
    if (row.session.state !== "running") return `list says ${row.session.state}`;
    if (mode === "command") return null;
    if (row.session.activity !== "idle" || row.session.turn_open)
      return `list says ${row.session.activity}, turn ${row.session.turn_open ? "open" : "over"}`;
    return null;
  }

  const lane: Lane = {
    mode,
    world,
    files,
    sessionId: () => sessionId,
    activity: () => latest?.session.activity ?? "",
    state: () => latest?.session.state ?? "",
    marked: () => (sessionId === "" ? [] : home.marked(sessionId)),
    addPersonText(text) {
      const at = Date.now();
      sent.push({ tag: text, text, how: "person", at, messageId: null, isAcknowledged: true, mayBeMissing: false });
    },
    file: (tag) => join(workDir, `made-${tag}`),
    reeve,
    async start(kind) {
      const { agent, args } = AGENTS[mode];
      const first = kind === null || mode === "command" ? null : nextText(kind);
      const at = Date.now();
      const words = [
        "start",
        agent,
        ...(first === null ? [] : [first.text]),
        "--cwd",
        workDir,
        "--name",
        `lane-${index}`,
      ];
      const result = await reeve([...words, ...(args.length === 0 ? [] : ["--", ...args])]);
      const answer = JSON.parse(result.stdout || "{}") as { session_id?: string; outputs_dir?: string };
      if (answer.session_id === undefined) throw new Stuck("the start was refused");
      sessionId = answer.session_id;
      outputsDir = answer.outputs_dir ?? null;
      if (first !== null)
        sent.push({ ...first, how: "start", at, messageId: null, isAcknowledged: true, mayBeMissing: false });
      waiter = startWaiter(client, sessionId, (error) => world.fail("client.waitForSession", error));
      await lane.until("its process is there", () => mains.size > 0);
    },
    async send(kind, how = "queue", timeoutSeconds = 0) {
      const { tag, text } = nextText(kind);
      if (how === "steer") steered.add(tag);
      if (how === "interrupt") lane.note("stop");
      const at = Date.now();
      const flags = how === "queue" ? [] : [`--${how}`];
      // Any outcome is an answer: whether it is true is for the judge.
      const result = await reeve(
        ["send", sessionId, text, "--timeout", String(timeoutSeconds), ...flags],
        ({ stdout }) => /"message_id"/.test(stdout),
      );
      const { message_id: messageId = null } = JSON.parse(result.stdout || "{}") as { message_id?: string };
      const message: Sent = { tag, text, how, at, messageId, isAcknowledged: messageId !== null, mayBeMissing: false };
      sent.push(message);
      return message;
    },
    async sendAndWait(kind) {
      const { tag } = await lane.send(kind, "queue", 20);
      const askedAt = Date.now();
      const result = await reeve(["wait", sessionId, "--timeout", "30"], ({ stdout }) => /"reason"/.test(stdout));
      const { reason = "nothing" } = JSON.parse(result.stdout || "{}") as { reason?: string };
      looseWaits.push({ askedAt, answeredAt: Date.now(), reason, tag });
    },
    async typePrompt(kind) {
      const { tag, text } = nextText(kind);
      const at = Date.now();
      await lane.type(text);
      await lane.until("the text is on the screen", async () => (await lane.screen()).includes(tag), 15_000);
      await lane.press("Enter");
      const message: Sent = {
        tag,
        text,
        how: "person",
        at,
        messageId: null,
        isAcknowledged: true,
        mayBeMissing: false,
      };
      sent.push(message);
      return message;
    },
    async sendRaw(text) {
      await reeve(["send", sessionId, text, "--timeout", "0"], ({ stdout }) => /"message_id"/.test(stdout));
    },
    async press(...keys) {
      await world.tmux("send-keys", "-t", await pane(), ...keys);
    },
    async type(text) {
      await world.tmux("send-keys", "-t", await pane(), "-l", text);
    },
    screen: async () => world.tmux("capture-pane", "-p", "-J", "-t", await pane()),
    turns: () =>
      mode === "practice" ? practiceTurns(readIfThere(files.list()[0]), rules()) : turnsOf(lane.requests(), rules()),
    requests: () => model.requests({ prefix, hidden: false }),
    events: () => world.eventsOf(sessionId),
    main: () => mains.get(Math.max(0, ...mains.keys())) ?? null,
    isAlive: () => {
      const main = lane.main();
      return main !== null && isThere(main);
    },
    note(what, cause) {
      if (what === "stop") deeds.push({ what, at: Date.now() });
      if (cause !== undefined) causes.push({ at: Date.now(), cause });
    },
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
    markTranscriptDeleted: () => void (transcriptDeletedAt ??= Date.now()),
    forgive() {
      const here = arrivals();
      sent.forEach((message, at) => {
        if (!here.some(({ text }) => text.includes(message.tag))) sent[at] = { ...message, mayBeMissing: true };
      });
    },
    async until(what, look, patienceMs = PATIENCE_MS) {
      const since = Date.now();
      while (!(await look())) {
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
      clearInterval(kernelTimer);
      watchKernel();
      const events = lane.events();
      // One that lived too shortly to be seen: no process with its mark is the proof.
      for (const event of events.filter(({ type }) => type === "session-exited")) {
        const incarnation = Number(event.data["incarnation"]);
        const isSeen = mains.has(incarnation) || home.marked(sessionId).some((one) => one.incarnation === incarnation);
        if (!isSeen) deaths.push({ incarnation, at: event.at, cause: "exited" });
      }
      const spans: readonly Span[] = world.disturbances.map((span) => ({ ...span }));
      return {
        mode,
        turns: lane.turns(),
        questions: questions satisfies readonly TrueQuestion[],
        dialogs,
        deaths: deaths.toSorted((one, other) => one.incarnation - other.incarnation),
        arrivals: arrivals(),
        sent,
        events,
        samples,
        wakes,
        looseWaits,
        disturbances: spans,
        transcriptDeletedAt,
        failedCommands,
        trace: lane.requests().map(traceOf),
        seen,
        leftBehind: leftOf(),
        stuck,
        lagMs: machine.lagSince(beganAt),
        finishedAt: Date.now(),
      };
    },
  };

  function leftOf(): readonly string[] {
    const isEnded = latest?.session.state === "stopped" && latest.session.desired === "stopped";
    if (!isEnded) return [];
    return home.marked(sessionId).map(({ pid, state }) => `process ${pid} (${state}) of the ended session`);
  }

  async function pane(): Promise<string> {
    const panes = await world.tmux("list-panes", "-a", "-F", "#{pane_id} #{session_name}");
    const found = panes.split("\n").find((line) => line.endsWith(` ${sessionId}`));
    if (found === undefined) throw new Stuck(`tmux shows no pane of the session: ${panes}`);
    return found.split(" ")[0] ?? "";
  }

  return lane;
}

function codexArguments(): readonly string[] {
  const retries = (what: string): string => `model_providers.scripted.${what}_max_retries=1`;
  return ["-c", retries("request"), "-c", retries("stream")];
}

async function userEnvironment(
  mode: Mode,
  dir: string,
  workDir: string,
  modelUrl: string,
  path: string,
): Promise<Readonly<Record<string, string>>> {
  const options = { trust: [workDir] };
  if (mode === "practice" || mode === "command") return {};
  if (mode === "claude") {
    const { environment } = await claudeHome(dir, modelUrl, options);
    // What it keeps of background commands would stay in /tmp.
    mkdirSync(join(dir, "tmp"));
    return { ...environment, CLAUDE_CODE_MAX_RETRIES: "1", TMPDIR: join(dir, "tmp"), PATH: path };
  }
  if (mode === "gemini") {
    const { environment } = await geminiHome(dir, modelUrl, options);
    mkdirSync(join(dir, ".gemini", "policies"), { recursive: true });
    writeFileSync(join(dir, ".gemini", "policies", "echo.toml"), ECHO_IS_ALLOWED);
    return { ...environment, PATH: path };
  }
  const { environment } = await codexHome(dir, modelUrl, options);
  const rules = join(dir, ".codex", "rules");
  mkdirSync(rules, { recursive: true });
  writeFileSync(join(rules, "default.rules"), 'prefix_rule(pattern=["touch"], decision="prompt")\n');
  return { ...environment, PATH: path };
}

const ECHO_IS_ALLOWED = `[[rule]]
toolName = "run_shell_command"
commandPrefix = "echo"
decision = "allow"
priority = 500
`;

function traceOf({ at, finishedAt, outcome, prompt, says, calls, messages }: RecordedRequest): string {
  const last = messages.slice(-4).map(({ role, text }) => `${role}: ${text.slice(0, 300)}`);
  return JSON.stringify({
    at,
    finishedAt,
    outcome,
    prompt: prompt.slice(0, 200),
    says: says.slice(0, 60),
    calls,
    last,
  });
}

function linesArrived(text: string): readonly Arrival[] {
  const lines = text
    .split("\n")
    .slice(0, -1)
    .filter((line) => line !== "");
  return [...new Set(lines)].map((line) => ({
    text: line,
    at: lines.indexOf(line),
    times: lines.filter((other) => other === line).length,
  }));
}

function readIfThere(path: string | undefined): string {
  return path !== undefined && existsSync(path) ? readFileSync(path, "utf8") : "";
}
