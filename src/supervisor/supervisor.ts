/**
 * The only part of Reeve that changes anything. It owns the ledger (what is
 * true), the effect runner (what is done about it), and the three watchers:
 * runtimes, spools and strays. Surfaces ask it through operations.
 */
import { ReeveError } from "../platform/reeve-error.ts";
import type { Runtime } from "../runtime/contract.ts";
import type { Context } from "../session/input.ts";
import { isEnded, type Session } from "../session/session.ts";
import { createAdapters } from "./launch/adapters.ts";
import { createAttention } from "./attention/attention.ts";
import { secretsFor } from "./attention/later-secrets.ts";
import { createBroughtEnvironments } from "./launch/brought-environments.ts";
import { concealMessages } from "./launch/concealed-text.ts";
import { beginningOf } from "./launch/conversation.ts";
import { createDelivery } from "./effect/delivery.ts";
import { createEffectRunner } from "./effect/effect-runner.ts";
import { type EffectParts, nextTask } from "./effect/effects.ts";
import { type Environment, readFiles, sessionEnvironment } from "./launch/environment.ts";
import { isolated } from "../platform/isolated.ts";
import { createDiagnosis } from "./diagnosis/diagnosis.ts";
import { createLauncher, type LaunchRequest } from "./launch/launcher.ts";
import { findForeign } from "./launch/foreign-agents.ts";
import { createLedger } from "./ledger/ledger.ts";
import { createPost } from "./ledger/post.ts";
import { createWorkBook } from "./ledger/work-book.ts";
import { openMemories } from "./memory/memories.ts";
import { createSettleReminder } from "./settle-reminder.ts";
import { redactingPost, secretsOfSession } from "./attention/mail-secrets.ts";
import { redactingWork } from "./attention/work-secrets.ts";
import { createObserver } from "./observer.ts";
import { createProgramFinder } from "./launch/program-finder.ts";
import { createPasses } from "./launch/passes.ts";
import { createReceipts } from "./ledger/receipts.ts";
import { attendAll } from "./attend-all.ts";
import { createRefusals } from "./refusals.ts";
import { createRequests } from "./requests.ts";
import { RECORDING } from "../session/session-directory.ts";
import { createPersistence, type Persistence } from "./persistence/persistence.ts";
import { createLogTee } from "./persistence/log-tee.ts";
import { mostWorkers } from "./launch/most-workers.ts";
import { type AgentOptions, noOptions } from "./launch/settings.ts";
import type { EnvironmentRequest, Supervisor, SupervisorParts } from "./contract.ts";
import { createSweep } from "./sweep.ts";
import { tellDeaths } from "./tell-deaths.ts";
import { createRestarts } from "./restarts.ts";
import { createTimeOuts } from "./time-outs.ts";
import { isOnFor } from "./launch/session-switch.ts";
import { timeOutsOf } from "./launch/time-outs-of.ts";
import { targetOf } from "./ledger/target.ts";
import type { ChosenTimeOuts } from "../session/time-out.ts";
import { createScheduler } from "./ledger/scheduler.ts";
import { answerByRules } from "./fleet/rule-keeper.ts";
import { rulingFor } from "../fleet/approval-rule.ts";
import { openWorkOf } from "../fleet/work.ts";
import { createIndexer } from "./index/indexer.ts";
import { createOperatorInbox } from "./fleet/operator-inbox.ts";
import { createExports } from "./story/exports.ts";
import { createPruner } from "./retention/pruner.ts";
import { createWaker } from "./fleet/waker.ts";
import { createWorkKeeper } from "./fleet/work-keeper.ts";
import { createNotifier } from "./notify/notifier.ts";
import { accountIn } from "./launch/account.ts";
import { createCaptureGaps } from "./capture/capture-gap.ts";
import { createProxyKeeper } from "./capture/proxy-keeper.ts";
import { createBreaker } from "./fleet/breaker.ts";
import { createWorktrees } from "./worktree/worktrees.ts";

/** A start answers even if a runtime does not: what is known by then is served, the rest follows. */
const BOOT_LOOK_MS = 1_500;

export function createSupervisor(parts: SupervisorParts): Supervisor {
  const { clock, settings } = parts;
  const { log, also } = createLogTee(parts.log);
  const brought = createBroughtEnvironments(clock);
  const passes = createPasses();
  const store = concealMessages(parts.store, { secrets: () => attention.secrets, brought: brought.get });
  const adapters = createAdapters({ ...parts, sessions: store.registry.all() });
  const { agent, runtime } = adapters;

  const environment = ({ caller, given, ...files }: EnvironmentRequest): Environment =>
    sessionEnvironment({ caller: proxies.withoutCapture(caller), scrub: parts.scrub, file: readFiles(files), given });

  const scheduler = createScheduler({ clock, log, observe: () => observer.look() });
  const receipts = createReceipts();
  const rulingOn: NonNullable<Context["rulingOn"]> = (...asked) => rulingFor(parts.approvalRules, ...asked);
  const isCaughtUp = (session: Session): boolean => attention.isCaughtUp(session);
  const ledger = createLedger({ store, clock, log, receipts, rulingOn, isCaughtUp });
  const post = createPost({ store, clock, log });
  const work = createWorkBook({ store, clock, log, most: mostWorkers(settings) });
  const onKept: Persistence["told"] = (...told) => persistence.told(...told);
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
    onNothingFound: () => void observer.look(),
    onLimits: (sessionId, reading) => breaker.hear(sessionId, reading),
    tagKey: parts.capture.record.tagKey,
    onKept,
    onRecorded: (sessionId, failure) => persistence.report(sessionId, RECORDING, failure),
  });
  const options = (name: string): AgentOptions => settings.agents[name] ?? noOptions;
  const programs = createProgramFinder(options);
  const plan = createLauncher({
    ...adapters,
    options,
    programs,
    socketDir: parts.socketDir,
    mcp: parts.mcp,
    captureAddress: (sessionId, upstream) => proxies.address(sessionId, upstream),
    upstreams: () => settings.docker.upstreams,
    isReminded: (whose) => isOnFor("memory_reminder", whose, settings),
    requireRules: parts.rules.require,
  });

  const gaps = createCaptureGaps({ log: store.log, ledger, clock });
  const proxies = createProxyKeeper({
    ...parts,
    ...parts.capture,
    ...adapters,
    store,
    attention,
    scheduler,
    onKept,
    gaps,
  });
  const timeOuts = (session: Session): ChosenTimeOuts => timeOutsOf(session, settings);
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
    parkedWhy: (session) => breaker.whyHeld(session),
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
    capture: proxies,
    isParked: (session) => breaker.isHeld(session),
    accountIn: (session, environment) => account(session.identity, environment),
    hasScreenRules: async (name) => parts.rules.has(name) && (await parts.rules.of(name)).length > 0,
    launch: async (session) => persistence.planned(session, await plan(await launchOf(session))),
    foreignIn: ({ identity }) => foreignIn(runtime(identity.runtime), identity.launch.paths),
    brought,
    passes,
    socketOfSessions: parts.socketOfSessions,
    timeOuts,
    fallbackEnvironment: (files) => environment({ caller: parts.ownEnvironment, ...files, given: {} }),
  };
  const refusals = createRefusals({
    scheduler,
    record: (event, caller) => void ledger.note(event, caller).catch(report("recording a refusal")),
  });
  const runner = createEffectRunner({ nextTask: (id) => nextTask(effectParts, id), clock, scheduler, log });
  const around = { store, ledger, runtimes: adapters.runtimes, clock, scheduler, log };
  const sweep = createSweep({ ...around, graceMs: settings.orphanGraceMs, intervalMs: settings.sweepIntervalMs });
  const restarts = createRestarts({ ledger, clock, scheduler, log });
  const notifier = createNotifier({
    ...around,
    settings,
    environment: effectParts.fallbackEnvironment({ envFile: null }),
  });
  const poke = (id: string): void => void [runner.poke(id), waker.poke(id)];
  const breaker = createBreaker({ store, ledger, clock, scheduler, log, settings: settings.quota, poke });
  const tellsRecovery = (session: Session): boolean => isOnFor("recovery_wakes", session.identity, settings);
  const waking = { mail: post, isEnabled: settings.wakes, tellsRecovery, breaker };
  const waker = createWaker({ store, ledger, clock, scheduler, log, ...waking });
  const { registry } = store;
  const persistence = createPersistence({ ...around, agent, runtime, secrets: attention.secrets.learn });
  also(persistence.hear);
  const workKeeper = createWorkKeeper({ work, registry, scheduler, log, onFailed: () => inbox.poke(null) });
  const inbox = createOperatorInbox({ ...parts, ...around, quota: breaker, work: workKeeper });
  const clockwork = createTimeOuts({
    ...around,
    chosen: timeOuts,
    isCaughtUp,
    canInterrupt: (session) =>
      attention.channel(session.id) !== null || agent(session.identity.agent).interrupt !== null,
    isParked: (session) => breaker.parked(session)?.hasWork === true,
    lastTypedAt: (session) => runtime(session.identity.runtime).lastTypedAt(targetOf(session)),
  });
  const observer = createObserver({ ...around, agent, intervalMs: settings.healthIntervalMs });

  const account = (
    { agent: name, runtime: kind, launch }: Pick<Session["identity"], "agent" | "runtime" | "launch">,
    given: Environment,
  ) => accountIn(agent(name), runtime(kind).files, { environment: given, launch });
  const worktrees = createWorktrees({ store, clock, log, runtime, settings: settings.git });

  const exports = createExports(ledger);
  const pruner = createPruner({
    ...around,
    settings: settings.retention,
    outputsRoot: parts.outputsRoot,
    mail: post,
    inbox,
    wakes: waker,
    worktrees: worktrees.records,
    referenced: [(sessionId) => openWorkOf(work.open(), sessionId), exports.referenced],
    needed: () => new Set(work.open().flatMap(({ dependencies }) => dependencies)),
    onRemoving: persistence.retire,
    onRemoved: (sessionId) => {
      waker.forget(sessionId);
      delivery.forget(sessionId);
      inbox.poke(sessionId);
    },
  });

  const indexer = createIndexer({
    ...around,
    index: parts.index,
    agent,
    runtime,
    secrets: attention.secrets,
    environment: effectParts.fallbackEnvironment({ envFile: null }),
  });

  const secretsOf = (sessionId: string) => secretsOfSession(sessionId, { secrets: attention.secrets, registry });
  const onRemembered = createSettleReminder({ registry, runtime, log });
  const memories = openMemories({ ...parts, ...around, settings: settings.memory, secretsOf, onRemembered });

  async function launchOf(session: Session): Promise<LaunchRequest> {
    const { agent: name, role, runtime: kind, outputsDir, launch } = session.identity;
    const beginning = await beginningOf(session, agent(name), runtime(kind).files);
    return { agent: name, role, runtime: kind, sessionId: session.id, outputsDir, launch, beginning };
  }

  const requests = createRequests({ ...around, brought, passes, breaker, work, environment, account });

  /** Until then sessions are only adopted; whoever waits for the daemon comes before what is watched. */
  let isBooted = false;
  ledger.onCommit((sessionId) => {
    const session = store.registry.get(sessionId);
    if (session === undefined) return;
    brought.attend(session);
    passes.attend(session);
    restarts.attend(session);
    clockwork.attend(session);
    // Whether it can be watched or not, what was asked for is done.
    if (isBooted) isolated(log, "watching a session", { session: sessionId }, () => attention.attend(session));
    proxies.attend(session);
    if (isBooted) isolated(log, "keeping a session", { session: sessionId }, () => persistence.attend(session));
    breaker.attend(sessionId);
    workKeeper.attend(sessionId);
    poke(sessionId);
    inbox.poke(sessionId);
  });

  function report(what: string): (error: unknown) => void {
    return (error) => log(`${what} failed`, { why: error });
  }

  return {
    settings,
    approvalRules: parts.approvalRules,
    environment,
    agent,
    agents: () => adapters.agents,
    requireStartable: adapters.requireStartable,
    about: (session) => ({
      wait: agent(session.identity.agent).wait,
      hidesFirstTurn: agent(session.identity.agent).hidesFirstTurn === true,
      impediment: isEnded(session) ? null : adapters.impedimentOf(session),
      place: session.process.place === null ? null : runtime(session.identity.runtime).describe(session.process.place),
      git: attention.git(session),
      parked: breaker.parked(session),
      work: work.of(session.id) ?? null,
    }),
    gitNow: attention.gitNow,
    requireUnimpeded(session) {
      const impediment = adapters.impedimentOf(session);
      if (impediment !== null) throw new ReeveError({ code: "session-impeded", kind: "conflict", message: impediment });
    },
    wakes: waker,
    inbox,
    notifications: notifier,
    quota: breaker,
    timeOuts,
    memories,
    work: redactingWork(work, { secrets: attention.secrets, registry }),
    worktrees,
    retention: pruner,
    exports,
    search: indexer,
    mail: redactingPost(post, { secrets: attention.secrets, registry }),
    plan,
    programs,
    foreign: () => foreignIn(parts.runtimes[0], parts.ownEnvironment),
    runtime,
    runtimes: () => parts.runtimes,
    orphans: () => sweep.orphans(),
    testimony: (session) => ({
      lastWords: attention.lastWords(session),
      signs: attention.signs(session.id),
      channel: session.watch.socket === null ? null : (attention.describeChannel(session.id) ?? "not open"),
      obstacle: delivery.obstacle(session),
      unkept: persistence.problems(session.id),
    }),

    diagnosis: createDiagnosis({
      ...parts,
      agent,
      runtime,
      plan,
      programs,
      captureAddress: (sessionId, upstream) => proxies.address(sessionId, upstream),
    }),
    firstWord: attention.firstWord,
    secretsOf: (session) => secretsFor(session, attention.secrets, parts.ownEnvironment),

    noteRefusal: refusals.note,

    start: (...asked) => requests.start(...asked),
    submit: (...asked) => requests.submit(...asked),
    bringAgain: (...asked) => requests.bringAgain(...asked),
    send: (...asked) => requests.send(...asked),
    withdraw: (...asked) => requests.withdraw(...asked),

    async boot(version, deaths) {
      // A daemon that cannot write can still list, and says so of everything else.
      const events = store.repairs.map((body) => ({ sessionId: null, body }));
      if (events.length > 0) await store.commit({ events }).catch(report("telling of repairs"));
      await tellDeaths(store, deaths).catch(report("telling of deaths"));
      await pruner.recover().catch(report("finishing what was being removed"));
      await post.load().catch(report("counting unread mail"));
      await work.load().catch(report("reading the queue of work"));
      await workKeeper.load().catch(report("reading the failed items of work"));
      await inbox.load().catch(report("reading the inbox"));
      await breaker.load().catch(report("reading the limits"));
      await Promise.race([delivery.resume(), clock.sleep(BOOT_LOOK_MS)]);
      await ledger
        .note({ type: "daemon-started", pid: process.pid, version, sessions: store.registry.all().length })
        .catch(report("daemon-started"));
      await Promise.race([observer.look(), clock.sleep(BOOT_LOOK_MS)]);
      isBooted = true;
      for (const session of store.registry.all()) {
        isolated(log, "taking a session up again", { session: session.id }, () => {
          restarts.attend(session);
          answerByRules(session, { ledger, log, rules: parts.approvalRules });
          runner.poke(session.id);
        });
      }
      proxies.start();
      persistence.start(version);
      clockwork.start();
      breaker.start();
      workKeeper.start();
      worktrees.recover().catch(report("taking worktrees up again"));
      waker.start();
      inbox.start();
      notifier.start();
      observer.start();
      sweep.start();
      pruner.start();
      indexer.start();
      isolated(log, "reaching the vector store", {}, memories.start);
    },

    watchFound() {
      const ids = store.registry.all().map(({ id }) => id);
      attendAll(ids, { store, attention, persistence, log }).catch(report("watching the adopted sessions"));
    },

    async close() {
      scheduler.close();
      waker.close();
      await indexer.close();
      await Promise.all([pruner.close(), memories.close()]);
      await Promise.all([notifier.close(), sweep.close(), observer.close(), runner.close()]);
      await attention.close();
      await proxies.close();
      await inbox.close();
      refusals.tell();
      await persistence.close();
      await ledger.note({ type: "daemon-stopped", pid: process.pid }).catch(report("daemon-stopped"));
      await Promise.all([ledger.idle(), post.idle(), work.idle(), breaker.idle(), worktrees.idle()]);
    },
  };
}
