/**
 * Watches a session while it lives: its spool, its terminal output (recorded,
 * bounded), its transcript, screen, status file and channel, and the clock. It
 * begins when the process is there and ends when that is proven gone.
 */
import type { Composer, Standing } from "../../agent/composer.ts";
import type { Agent, Channel } from "../../agent/contract.ts";
import type { OutputLog } from "../../capture/output-log.ts";
import { openOutputLog } from "../../capture/output-log.ts";
import { createRedaction } from "../../capture/redaction.ts";
import type { Clock } from "../../platform/clock.ts";
import type { Log } from "../../platform/log.ts";
import { messageOf } from "../../platform/reeve-error.ts";
import type { Runtime } from "../../runtime/contract.ts";
import type { Reading } from "../../session/reading.ts";
import type { Session } from "../../session/session.ts";
import { isEnded } from "../../session/session.ts";
import type { Store } from "../../store/contract.ts";
import { createBackgroundWatch } from "./background-watch.ts";
import { createChannelKeeper } from "./channel-keeper.ts";
import { createCheckoutStatus, type GitStatus } from "./checkout-status.ts";
import { createCheckoutWatch } from "./checkout-watch.ts";
import { targetOf } from "../ledger/target.ts";
import type { Environment } from "../launch/environment.ts";
import { createHealthWatch, type HealthWatch } from "./health-watch.ts";
import { createIdentityWatch } from "./identity-watch.ts";
import { createNativeWatch } from "./native-watch.ts";
import { isolated } from "../../platform/isolated.ts";
import { remembered } from "../../platform/remembered.ts";
import type { Secret } from "../launch/secret-values.ts";
import type { Ledger } from "../ledger/ledger.ts";
import type { LastWord, Readings, Redactor } from "./readings.ts";
import { createReadings } from "./readings.ts";
import { createRecordings, type Recording } from "./recordings.ts";
import type { RuleBook } from "../launch/rule-book.ts";
import { createScreenWatch } from "./screen-watch.ts";
import type { Scheduler } from "../ledger/scheduler.ts";
import type { Settings } from "../launch/settings.ts";
import { ownProcessorMs } from "./own-processor-time.ts";
import { createSoftWatch, STAYS_MS } from "./soft-watch.ts";
import type { SessionSecrets } from "./session-secrets.ts";
import { createSessionSecrets } from "./session-secrets.ts";
import { createSpool } from "./spool.ts";
import { createLoginWatch } from "./login-watch.ts";
import { createStallWatch } from "./stall-watch.ts";
import { createStatusWatch } from "./status-watch.ts";
import { createTranscriptWatch } from "./transcript-watch.ts";

export interface Attention {
  /** Before its process is created, so that not a byte of its output is missed; with its environment if that is known. */
  prepare(session: Session, environment: Environment | null): void;
  /** Brings what is watched in line with the session; cheap when nothing changed. */
  attend(session: Session): void;
  /** Reads what a session that ended while nobody watched left in its spool and its transcript. */
  catchUp(session: Session): void;
  /** The same, and whatever else its watchers still had to tell; resolves when that is committed. */
  readToEnd(session: Session): Promise<void>;
  /** What its hooks left before it was watched, and which secrets it has, has been read: only then may anything be typed into it. */
  isCaughtUp(session: Session): boolean;
  /** Without the session's secrets; null when these are not known, and so nothing may be written. */
  redact(session: Session, text: string): Promise<string | null>;
  /** Of a session that lives, or lived while this daemon did. */
  readonly secrets: Pick<SessionSecrets, "known" | "learn">;
  /** The values alone; null when they are not known. */
  secretValues(sessionId: string): Promise<readonly string[] | null>;
  /** What somebody else than its watchers heard of it. */
  readonly take: Readings["take"];
  /** The agent's own protocol, while it is open. */
  channel(sessionId: string): Channel | null;
  describeChannel(sessionId: string): string | null;
  /** What its screen says right now. */
  look(session: Session): Promise<Reading | null>;
  /** What stands in its composer right now. */
  standing(session: Session, composer: Composer): Promise<Standing>;
  lastWords(session: Session): readonly LastWord[];
  /** What looks at its processes showed, a sentence each; empty while nothing is expected of them. */
  readonly signs: HealthWatch["signs"];
  firstWord(session: Session): Promise<void>;
  /** What git says of its checkout, as far as that is known. */
  git(session: Session): GitStatus | null;
  /** The same, asked anew. */
  gitNow(session: Session): Promise<GitStatus | null>;
  close(): Promise<void>;
}

interface Watched {
  readonly incarnation: number;
  readonly output: OutputLog;
  readonly stopStream: () => void;
  /** Null: its terminal is not recorded. */
  readonly recording: Recording | null;
  isCaughtUp: boolean;
}

/** To look for secrets takes long to prepare: it is kept for the sessions that talked last. */
const MOST_PREPARED = 32;

export function createAttention(parts: {
  readonly store: Store;
  readonly ledger: Ledger;
  readonly agent: (name: string) => Agent;
  readonly runtime: (kind: string) => Runtime;
  readonly rules: RuleBook;
  readonly clock: Clock;
  readonly scheduler: Scheduler;
  readonly log: Log;
  readonly settings: Settings;
  readonly onCaughtUp: (sessionId: string) => void;
  /** Of a session that should work no process was found. */
  readonly onNothingFound: () => void;
  /** The home's key for tags of secrets. */
  readonly tagKey: () => string;
  /** Told what of a session's traffic cannot be written (`why`), or can again (null). */
  readonly onKept: (sessionId: string, what: string, why: string | null) => void;
  /** Told what was said of limits. */
  readonly onLimits?: (sessionId: string, reading: Reading) => void;
  /** Told what keeps a terminal from being recorded; null: nothing. */
  readonly onRecorded?: (sessionId: string, failure: unknown) => void;
}): Attention {
  const { settings } = parts;
  const watched = new Map<string, Watched>();
  /** What watchers of a process that is gone still have to read. */
  const leaving = new Map<string, Promise<void>>();
  /** Incarnations of which it was said that nobody understands them. */
  const blind = new Set<string>();
  const secrets = createSessionSecrets(parts);
  const redactionOf = remembered(MOST_PREPARED, (learned: readonly Secret[]) =>
    createRedaction(learned.map(({ value }) => value)),
  );
  const readings = createReadings({ ...parts, redactor });
  const processorMs = (session: Session): Promise<number | null> => ownProcessorMs(parts.runtime, session);
  const soft = createSoftWatch({ ...parts, readings, staysMs: STAYS_MS, processorMs });
  const spool = createSpool({ ...parts, readings });
  const screens = createScreenWatch({ ...parts, soft });
  const channels = createChannelKeeper({ ...parts, readings });
  const transcripts = createTranscriptWatch({ ...parts, readings });
  const health = createHealthWatch({
    ...parts,
    readings,
    channel: channels.get,
    intervalMs: settings.healthIntervalMs,
    stallAfterMs: settings.stallAfterMs,
  });
  const gitStatus = createCheckoutStatus(parts);
  const natives = createNativeWatch({ ...parts, secrets: secretValues });
  const recordings = createRecordings({ ...parts, secrets: secretValues });
  const watchers = [
    channels,
    transcripts,
    createStatusWatch({ ...parts, soft }),
    createLoginWatch(parts),
    createIdentityWatch({ ...parts, readings }),
    createStallWatch({
      ...parts,
      readings,
      stallAfterMs: settings.stallAfterMs,
      workedAt: health.workedAt,
    }),
    health,
    createBackgroundWatch({ ...parts, readings, commandPatienceMs: settings.backgroundPatienceMs }),
    screens,
    createCheckoutWatch({ ...parts, status: gitStatus, intervalMs: settings.healthIntervalMs }),
    natives,
  ];

  /** Adopted: its process was there before. */
  function begin(session: Session, isAdopted: boolean): void {
    const { identity } = session;
    const output = openOutputLog({
      directory: identity.outputsDir,
      secrets: () => secretValues(session.id),
      mostBytes: settings.outputLogBytes,
      since: new Date(parts.clock.now()).toISOString(),
      log: parts.log,
    });
    const runtime = parts.runtime(identity.runtime);
    const heard = (bytes: Buffer): void => {
      output.push(bytes);
      screens.notice(session.id);
      health.notice(session.id);
    };
    const stopStream = runtime.capabilities.stream ? runtime.stream(targetOf(session), heard) : () => undefined;
    const { incarnation } = session.process;
    const recording = recordings.begin(session, isAdopted);
    const watching: Watched = { incarnation, output, stopStream, recording, isCaughtUp: false };
    watched.set(session.id, watching);
    if (identity.hasTurns && !isInert(session)) void readSpool(session, watching);
  }

  /** One that cannot be read holds nothing back: it is logged, and the session goes on without it. */
  async function readSpool(session: Session, watching: Watched): Promise<void> {
    await spool.follow(session).catch(report(session));
    watching.isCaughtUp = true;
    parts.onCaughtUp(session.id);
  }

  function end(session: Session, watching: Watched): void {
    watched.delete(session.id);
    watching.stopStream();
    watching.output.close().catch(report(session));
    watching.recording?.close().catch(report(session));
    soft.forget(session.id);
    const left = [
      ...watchers.map((watcher) => watcher.leave(session)),
      ...(session.identity.hasTurns && !isInert(session) ? [spool.leave(session)] : []),
    ];
    const leave = Promise.all(left.map((one) => one.catch(report(session)))).then(() => {
      if (leaving.get(session.id) === leave) leaving.delete(session.id);
    });
    leaving.set(session.id, leave);
  }

  async function readLastWords(session: Session): Promise<void> {
    await spool.leave(session);
    transcripts.attend(parts.store.registry.get(session.id) ?? session);
    await transcripts.leave(session);
    await natives.leave(session);
  }

  async function secretValues(sessionId: string): Promise<readonly string[] | null> {
    return (await secrets.learn(sessionId))?.map(({ value }) => value) ?? null;
  }

  async function redactor(sessionId: string): Promise<Redactor> {
    const learned = await secrets.learn(sessionId);
    return learned === null ? () => null : redactionOf(learned).text;
  }

  /** While the process lives its environment can be read; afterwards it is too late. */
  async function learnSecrets(session: Session): Promise<void> {
    const wasSettled = secrets.isSettled(session);
    await secrets.learn(session.id).catch(report(session));
    if (!wasSettled) parts.onCaughtUp(session.id);
  }

  function report(session: Session): (error: unknown) => void {
    return (error) => parts.log("a session could not be watched", { session: session.id, why: messageOf(error) });
  }

  /** Nobody here can read what its agent says; what it says is left for a daemon that can. */
  function isInert(session: Session): boolean {
    return parts.agent(session.identity.agent).impediment !== undefined;
  }

  /** What it was doing when its agent was last understood is not what it is doing now. */
  function admitBlindness(session: Session): void {
    const detail = parts.agent(session.identity.agent).impediment;
    const incarnation = `${session.id} ${session.process.incarnation}`;
    if (detail === undefined || session.conversation.activity.status === "unknown" || blind.has(incarnation)) return;
    blind.add(incarnation);
    readings.take(session, { source: "supervisor", detail, activity: "unknown" }).catch(report(session));
  }

  return {
    prepare(session, environment) {
      if (environment !== null) secrets.tell(session, environment);
      const watching = watched.get(session.id);
      if (watching !== undefined && watching.incarnation !== session.process.incarnation) end(session, watching);
      if (!watched.has(session.id)) begin(session, false);
    },
    attend(session) {
      const { process } = session;
      const watching = watched.get(session.id);
      const isOver = process.exit !== null || watching?.incarnation !== process.incarnation;
      if (watching !== undefined && isOver) end(session, watching);
      if (process.exit === null && process.place !== null) {
        if (!watched.has(session.id)) begin(session, true);
        void learnSecrets(session);
        if (isInert(session)) admitBlindness(session);
        else
          for (const watcher of watchers)
            isolated(parts.log, "a watcher", { session: session.id }, () => watcher.attend(session));
      }
      if (session.state === "stopped" && session.wish.stop === null) secrets.forget(session.id);
      if (isEnded(session)) readings.forget(session.id);
    },
    catchUp(session) {
      if (session.identity.hasTurns && session.process.exit !== null && !isEnded(session) && !isInert(session))
        readLastWords(session).catch(report(session));
    },
    async readToEnd(session) {
      await leaving.get(session.id);
      if (session.identity.hasTurns && !isInert(session)) await readLastWords(session).catch(report(session));
    },
    isCaughtUp(session) {
      if (!secrets.isSettled(session)) return false;
      const watching = watched.get(session.id);
      return (
        !session.identity.hasTurns || (watching?.incarnation === session.process.incarnation && watching.isCaughtUp)
      );
    },
    redact: async (session, text) => (await redactor(session.id))(text),
    secrets,
    secretValues,
    take: readings.take,
    channel: channels.get,
    describeChannel: channels.describe,
    look: screens.look,
    standing: screens.standing,
    lastWords: readings.lastWords,
    signs: health.signs,
    firstWord: readings.firstWord,
    git: gitStatus.of,
    gitNow: gitStatus.now,
    async close() {
      for (const watching of watched.values()) watching.stopStream();
      gitStatus.close();
      await Promise.all(watchers.map((watcher) => watcher.close()));
      await Promise.all([...watched.values()].map((watching) => watching.output.close()));
      await recordings.close();
      await spool.close();
    },
  };
}
