/**
 * The only part of Reeve that changes anything. It owns the ledger (what is
 * true), the effect runner (what is done about it), and the three watchers:
 * runtimes, spools and strays. Surfaces ask it through operations.
 */
import type { Agent } from "../agent/contract.ts";
import type { McpServer } from "../agent/mcp-server.ts";
import type { Clock } from "../platform/clock.ts";
import type { Death } from "../platform/daemon-record.ts";
import type { Log } from "../platform/log.ts";
import { ReeveError } from "../platform/reeve-error.ts";
import type { Runtime } from "../runtime/contract.ts";
import { type Caller, callerName } from "../session/caller.ts";
import type { Command } from "../session/input.ts";
import type { Message } from "../session/message.ts";
import type { SessionRequest } from "../session/plan-session.ts";
import { planSession } from "../session/plan-session.ts";
import { LONGEST_DELAY_MS } from "../session/restart-policy.ts";
import type { Session } from "../session/session.ts";
import { isEnded } from "../session/session.ts";
import type { Store } from "../store/contract.ts";
import { newMessageId } from "../platform/ids.ts";
import { createAdapters } from "./launch/adapters.ts";
import { createAttention } from "./attention/attention.ts";
import { createBroughtEnvironments } from "./launch/brought-environments.ts";
import { concealMessages } from "./launch/concealed-text.ts";
import { beginningOf } from "./launch/conversation.ts";
import { createDelivery } from "./effect/delivery.ts";
import { createEffectRunner } from "./effect/effect-runner.ts";
import type { EffectParts } from "./effect/effects.ts";
import { nextTask } from "./effect/effects.ts";
import type { Environment } from "./launch/environment.ts";
import { readEnvFile, sessionEnvironment } from "./launch/environment.ts";
import { isolated } from "../platform/isolated.ts";
import type { Launcher, LaunchRequest } from "./launch/launcher.ts";
import { createLauncher } from "./launch/launcher.ts";
import type { Foreign } from "./launch/foreign-agents.ts";
import { findForeign } from "./launch/foreign-agents.ts";
import type { Wish } from "./ledger/ledger.ts";
import { createLedger, type SentMessage } from "./ledger/ledger.ts";
import { createPost, type Post } from "./ledger/post.ts";
import { redactingPost } from "./attention/mail-secrets.ts";
import { createObserver } from "./observer.ts";
import type { ProgramFinder } from "./launch/program-finder.ts";
import { hashOfPass } from "../platform/pass.ts";
import { createPasses } from "./launch/passes.ts";
import { createProgramFinder } from "./launch/program-finder.ts";
import { createReceipts } from "./ledger/receipts.ts";
import type { RuleBook } from "./launch/rule-book.ts";
import type { AgentOptions, Settings } from "./launch/settings.ts";
import { noOptions } from "./launch/settings.ts";
import type { Orphan } from "./sweep.ts";
import { createSweep } from "./sweep.ts";
import type { About, Testimony } from "./testimony.ts";
import { tellDeaths } from "./tell-deaths.ts";
import { createScheduler } from "./ledger/scheduler.ts";
import { createWaker, type Waker } from "./fleet/waker.ts";

export interface SupervisorParts {
  readonly store: Store;
  readonly runtimes: readonly Runtime[];
  readonly agents: readonly Agent[];
  readonly rules: RuleBook;
  /** What is wrong with config.toml, of which then nothing counts. */
  readonly configProblem: ReeveError | null;
  /** For the sockets of agents' own protocols. */
  readonly socketDir: string;
  /** Where the daemon takes calls from sessions. */
  readonly socketOfSessions: string;
  readonly settings: Settings;
  /** What agents are given to call Reeve with. */
  readonly mcp: McpServer;
  readonly clock: Clock;
  readonly log: Log;
  /** The daemon's own environment: the fallback for a start that nobody brought one for. */
  readonly ownEnvironment: Readonly<Record<string, string | undefined>>;
  /** Variables of Reeve's and of agents' sessions that no session may inherit. */
  readonly scrub: readonly string[];
}

export interface EnvironmentRequest {
  readonly caller: Readonly<Record<string, string | undefined>>;
  readonly envFile: string | null;
  readonly given: Environment;
}

export interface Supervisor {
  readonly settings: Settings;
  /** What a session's process will see. */
  environment(request: EnvironmentRequest): Environment;
  /** How an agent wants to be started; throws what is wrong with the request. */
  readonly plan: Launcher;
  readonly programs: ProgramFinder;
  /** Agents of this user that Reeve did not start, as they are now. */
  foreign(): Promise<readonly Foreign[]>;
  /** A first prompt that could not be given on the command line goes in as the first message. */
  start(
    request: Omit<SessionRequest, "passHash">,
    environment: Environment,
    wish: Wish & { readonly firstMessage?: string },
  ): Promise<Session>;
  /** A start that is repeated brings its environment again: the daemon that had it may be gone. */
  bringAgain(sessionId: string, request: EnvironmentRequest): void;
  /** A restart may bring an environment, used only where the runtime kept none. */
  submit(sessionId: string, command: Command, wish: Wish & { readonly environment?: Environment }): Promise<Session>;
  send(session: Session, message: Pick<Message, "id" | "text" | "submit" | "how">, wish: Wish): Promise<void>;
  /** Takes a message back that nobody has begun to type. */
  withdraw(message: Message, wish: Wish): Promise<void>;
  /** Sessions are woken for what happened to those that they started. */
  readonly wakes: Pick<Waker, "tell" | "due">;
  /** Between sessions, and with the operator. */
  readonly mail: Post;
  /** One that is not known is inert: it says so, and does nothing. */
  agent(name: string): Agent;
  agents(): readonly Agent[];
  /** Throws what keeps this agent from being started here. */
  requireStartable(agent: string, runtime: string): void;
  /** Throws what keeps this session from being written to or started again. */
  requireUnimpeded(session: Session): void;
  /** What a view of a session says that is not in its record. */
  about(session: Session): About;
  /** What was read of a session, by whom, and what came of it. */
  testimony(session: Session): Testimony;
  /** Resolves when this incarnation has spoken, or drawn what it draws when it is up. */
  firstWord(session: Session): Promise<void>;
  runtime(kind: string): Runtime;
  /** Those that sessions can be started on, the one that is used unless another is asked for first. */
  runtimes(): readonly Runtime[];
  orphans(): readonly Orphan[];
  /** For the record: somebody was refused what they called. Null: it could not be proven who. */
  noteRefusal(caller: Caller | null, refusal: Refusal): void;
  /** Adopts what survived, reports what did not, resumes what was under way. */
  boot(version: string, deaths: readonly Death[]): Promise<void>;
  close(): Promise<void>;
}

/** `target`: what the call named, as it was written. */
export interface Refusal {
  readonly operation: string;
  readonly target: string | null;
  readonly code: string;
  readonly why: string;
}

/** A start answers even if a runtime does not: what is known by then is served, the rest follows. */
const BOOT_LOOK_MS = 1_500;

export function createSupervisor(parts: SupervisorParts): Supervisor {
  const { clock, log, settings } = parts;
  const brought = createBroughtEnvironments(clock);
  const passes = createPasses();
  const store = concealMessages(parts.store, { secrets: () => attention.secrets, brought: brought.get });
  const adapters = createAdapters({ ...parts, sessions: store.registry.all() });
  const { agent, runtime } = adapters;

  const environment = ({ caller, envFile, given }: EnvironmentRequest): Environment =>
    sessionEnvironment({ caller, scrub: parts.scrub, file: readEnvFile(envFile), given });

  const scheduler = createScheduler({ clock, log, observe: () => observer.look() });
  const receipts = createReceipts();
  const ledger = createLedger({ store, clock, log, receipts });
  const post = createPost({ store, clock, log });
  const attention = createAttention({
    store,
    ledger,
    agent,
    runtime,
    rules: parts.rules,
    clock,
    scheduler,
    log,
    settings,
    onCaughtUp: (sessionId) => runner.poke(sessionId),
  });
  const options = (name: string): AgentOptions => settings.agents[name] ?? noOptions;
  const programs = createProgramFinder(options);
  const plan = createLauncher({
    ...adapters,
    options,
    programs,
    socketDir: parts.socketDir,
    mcp: parts.mcp,
    requireRules: parts.rules.require,
  });

  const foreignIn = (where: Runtime | undefined, paths: SupervisorParts["ownEnvironment"]) =>
    findForeign(adapters.agents, where?.files, paths);
  const pokeLater = (id: string, ms: number): void => scheduler.atMost(id, "poke", ms, () => runner.poke(id));
  const delivery = createDelivery({
    store,
    ledger,
    receipts,
    clock,
    adapters,
    attention,
    composer: (session) => parts.rules.composer(session.identity.agent),
    typingPauseMs: settings.typingPauseMs,
    pokeLater,
  });
  const effectParts: EffectParts = {
    store,
    ledger,
    clock,
    log,
    adapters,
    attention,
    delivery,
    pokeLater,
    hasScreenRules: async (name) => parts.rules.has(name) && (await parts.rules.of(name)).length > 0,
    launch: async (session) => plan(await launchOf(session)),
    holderOf: (session, nativeId) =>
      store.registry
        .all()
        .find(
          (other) =>
            other.id !== session.id &&
            other.identity.agent === session.identity.agent &&
            other.conversation.nativeId === nativeId &&
            other.process.exit === null,
        ),
    foreignIn: ({ identity }) => foreignIn(runtime(identity.runtime), identity.launch.paths),
    brought,
    passes,
    socketOfSessions: parts.socketOfSessions,
    startPatienceMs: settings.startPatienceMs,
    fallbackEnvironment: (envFile) => environment({ caller: parts.ownEnvironment, envFile, given: {} }),
  };
  const runner = createEffectRunner({ nextTask: (id) => nextTask(effectParts, id), clock, scheduler, log });
  const around = { store, ledger, runtimes: adapters.runtimes, clock, scheduler, log };
  const sweep = createSweep({ ...around, graceMs: settings.orphanGraceMs, intervalMs: settings.sweepIntervalMs });
  const waker = createWaker({ store, ledger, clock, scheduler, log, mail: post, isEnabled: settings.wakes });
  const observer = createObserver({ ...around, intervalMs: settings.healthIntervalMs });

  async function launchOf(session: Session): Promise<LaunchRequest> {
    const { agent: name, runtime: kind, outputsDir, launch } = session.identity;
    const beginning = await beginningOf(session, agent(name), runtime(kind).files);
    return { agent: name, runtime: kind, sessionId: session.id, outputsDir, launch, beginning };
  }

  function scheduleRestart(session: Session): void {
    scheduler.cancel(session.id, "restart");
    if (session.process.restart.dueAt === null || session.wish.stop !== null) return;
    // Wall time decides only how long to wait, within what the policy could have asked for: a clock jump cannot strand it.
    const wait = Math.min(LONGEST_DELAY_MS, Math.max(0, session.process.restart.dueAt - clock.now()));
    const due = (): void => void ledger.apply(session.id, { type: "restart-due" }).catch(report("restart-due"));
    scheduler.atMost(session.id, "restart", wait, due);
  }

  /** Until then sessions are only adopted; whoever waits for the daemon comes before what is watched. */
  let isBooted = false;
  ledger.onCommit((sessionId) => {
    const session = store.registry.get(sessionId);
    if (session === undefined) return;
    brought.attend(session);
    passes.attend(session);
    scheduleRestart(session);
    // Whether it can be watched or not, what was asked for is done.
    if (isBooted) isolated(log, "watching a session", { session: sessionId }, () => attention.attend(session));
    runner.poke(sessionId);
    waker.poke(sessionId);
  });

  function admitted(
    session: Session,
    message: Pick<Message, "id" | "text" | "submit" | "how">,
    caller: Caller,
  ): SentMessage {
    return {
      ...message,
      caller: callerName(caller),
      sessionId: session.id,
      state: "admitted",
      admittedAt: clock.now(),
      settledAt: null,
      detail: null,
    };
  }

  function report(what: string): (error: unknown) => void {
    return (error) => log(`${what} failed`, { why: error });
  }

  /** A few at a time, so that requests are answered in between. */
  async function attendAll(ids: readonly string[]): Promise<void> {
    for (const [index, id] of ids.entries()) {
      if (index % 10 === 0) await new Promise((resolve) => setImmediate(resolve));
      const session = store.registry.get(id);
      if (session === undefined) continue;
      isolated(log, "watching an adopted session", { session: id }, () => {
        attention.attend(session);
        attention.catchUp(session);
      });
    }
  }

  return {
    settings,
    environment,
    agent,
    agents: () => adapters.agents,
    requireStartable: adapters.requireStartable,
    about: (session) => ({
      wait: agent(session.identity.agent).wait,
      impediment: isEnded(session) ? null : adapters.impedimentOf(session),
      place: session.process.place === null ? null : runtime(session.identity.runtime).describe(session.process.place),
    }),
    requireUnimpeded(session) {
      const impediment = adapters.impedimentOf(session);
      if (impediment !== null) throw new ReeveError({ code: "session-impeded", kind: "conflict", message: impediment });
    },
    wakes: waker,
    mail: redactingPost(post, { secrets: attention.secrets, registry: store.registry }),
    plan,
    programs,
    foreign: () => foreignIn(parts.runtimes[0], parts.ownEnvironment),
    runtime,
    runtimes: () => parts.runtimes,
    orphans: () => sweep.orphans(),
    testimony: (session) => ({
      lastWords: attention.lastWords(session),
      channel: session.watch.socket === null ? null : (attention.describeChannel(session.id) ?? "not open"),
      obstacle: delivery.obstacle(session),
    }),

    firstWord: attention.firstWord,

    noteRefusal(caller, refusal) {
      ledger.note({ type: "call-refused", ...refusal }, caller ?? undefined).catch(report("recording a refusal"));
    },

    async start(request, environment, { firstMessage, caller, idempotency }) {
      const passHash = hashOfPass(passes.forStart(request.id, 1));
      const { session, events } = planSession({ ...request, passHash }, clock.now(), caller);
      const admit =
        firstMessage === undefined
          ? undefined
          : admitted(session, { id: newMessageId(), text: firstMessage, submit: true, how: "queue" }, caller);
      await brought.during(session.id, environment, () => ledger.plan(session, events, { caller, idempotency, admit }));
      return session;
    },

    submit: (sessionId, command, { environment, ...wish }) =>
      brought.during(sessionId, environment, () => ledger.apply(sessionId, command, wish)),

    bringAgain(sessionId, request) {
      const session = store.registry.get(sessionId);
      if (session?.state !== "starting") return;
      try {
        brought.keep(session, environment(request));
      } catch (error) {
        report("bringing an environment again")(error);
      }
    },

    async send(session, message, { caller, idempotency }) {
      await ledger.admit(admitted(session, message, caller), idempotency);
    },

    withdraw: (message, wish) => ledger.withdraw(message, wish),

    async boot(version, deaths) {
      // A daemon that cannot write can still list, and says so of everything else.
      const events = store.repairs.map((body) => ({ sessionId: null, body }));
      if (events.length > 0) await store.commit({ events }).catch(report("telling of repairs"));
      await tellDeaths(store, deaths).catch(report("telling of deaths"));
      await post.load().catch(report("counting unread mail"));
      await Promise.race([delivery.resume(), clock.sleep(BOOT_LOOK_MS)]);
      await ledger
        .note({ type: "daemon-started", pid: process.pid, version, sessions: store.registry.all().length })
        .catch(report("daemon-started"));
      await Promise.race([observer.look(), clock.sleep(BOOT_LOOK_MS)]);
      isBooted = true;
      const sessions = store.registry.all();
      for (const session of sessions) {
        isolated(log, "taking a session up again", { session: session.id }, () => {
          scheduleRestart(session);
          runner.poke(session.id);
        });
      }
      attendAll(sessions.map((session) => session.id)).catch(report("watching the adopted sessions"));
      waker.start();
      observer.start();
      sweep.start();
    },

    async close() {
      scheduler.close();
      waker.close();
      await Promise.all([sweep.close(), observer.close(), runner.close()]);
      await attention.close();
      await ledger.note({ type: "daemon-stopped", pid: process.pid }).catch(report("daemon-stopped"));
      await Promise.all([ledger.idle(), post.idle()]);
    },
  };
}
