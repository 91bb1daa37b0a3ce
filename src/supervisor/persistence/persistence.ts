/**
 * Everything that is kept of a session with `persist_session` besides the
 * traffic with its model and its terminal: the logs, runtime.json, and the
 * links to its transcript and directory. It follows what is committed and reads
 * what is there; nothing waits for it, and what it cannot do harms no session.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Agent } from "../../agent/contract.ts";
import { createRedaction } from "../../capture/redaction.ts";
import type { Clock } from "../../platform/clock.ts";
import { createKeyedQueue } from "../../platform/keyed-queue.ts";
import type { Log } from "../../platform/log.ts";
import type { Runtime } from "../../runtime/contract.ts";
import { RUNTIME_FILE, TRANSCRIPT_LINK } from "../../session/session-directory.ts";
import { isEnded, type Session } from "../../session/session.ts";
import type { Store } from "../../store/contract.ts";
import type { PlannedLaunch } from "../launch/launcher.ts";
import type { Ledger } from "../ledger/ledger.ts";
import type { Scheduler } from "../ledger/scheduler.ts";
import { createProjection } from "./projection.ts";
import { keepCopy, linkUnlessCopied } from "./transcript-copy.ts";
import { updateRuntimeFile } from "./runtime-file.ts";
import { createWarnings, whyNot } from "./warnings.ts";

/** What could not be made is tried again after so long, as long as the session lives. */
const RETRY_MS = 10_000;
/** A daemon that died when a session ended is back by then, or nobody waits for it. */
const LONG_MS = 3_600_000;

export interface Persistence {
  /** A line of the daemon's log; one that names a session is kept with it. */
  readonly hear: Log;
  /** How it is about to be started. */
  planned(session: Session, launch: PlannedLaunch): PlannedLaunch;
  /** Brings what is kept in line with the session; cheap when nothing changed. */
  attend(session: Session): void;
  /** Whoever else writes into its directory could not (`why`), or can again (null), without so many lines. */
  told(sessionId: string, what: string, why: string | null, missing?: number): void;
  /** What cannot be kept of it now, a sentence each. */
  problems(sessionId: string): readonly string[];
  /** Somebody else wrote a file of it, or could not: what keeps it from that; null: nothing. */
  report(sessionId: string, file: string, failure: unknown): void;
  start(version: string): void;
  /** It is being removed: its links go, and nothing more is written. */
  retire(session: Session): Promise<void>;
  close(): Promise<void>;
}

export function createPersistence(parts: {
  readonly store: Store;
  readonly ledger: Pick<Ledger, "commitFor">;
  readonly clock: Clock;
  readonly scheduler: Scheduler;
  readonly agent: (name: string) => Agent;
  readonly runtime: (kind: string) => Runtime;
  /** Of a session: the values that are taken out; null where they are not known. */
  readonly secrets: (sessionId: string) => Promise<readonly { readonly value: string }[] | null>;
  readonly mostBytes?: number;
}): Persistence {
  const { store, scheduler, clock } = parts;
  const warnings = createWarnings({ ledger: parts.ledger, log: store.log });
  const queue = createKeyedQueue();
  const seen = new Map<string, string>();
  /** With what this daemon starts them. */
  const argvs = new Map<string, { readonly incarnation: number; readonly argv: readonly string[] }>();
  /** In memory for as long as the session is there: what is copied after its end must not hold them. */
  const secrets = new Map<string, readonly string[]>();
  let version: string | null = null;

  const projection = createProjection({
    ...parts,
    warnings,
    redactor: redactorOf,
  });

  async function secretsOf({ id }: Session): Promise<readonly string[] | null> {
    const told = (await parts.secrets(id))?.map(({ value }) => value);
    if (told !== undefined) secrets.set(id, told);
    return secrets.get(id) ?? null;
  }

  /** What is in the event log went through it before; where the secrets are not known, known shapes are taken out. */
  async function redactorOf(session: Session): Promise<(text: string) => string> {
    return createRedaction((await secretsOf(session)) ?? []).text;
  }

  async function sync(sessionId: string): Promise<void> {
    const session = store.registry.get(sessionId);
    if (session === undefined || version === null) return;
    // Whoever removed the directory of one that is over wanted that.
    if (isEnded(session) && !existsSync(session.identity.outputsDir)) return;
    const done = [
      await attempt(sessionId, RUNTIME_FILE, () => writeRuntimeFile(session)),
      await attempt(sessionId, "the link to its transcript", () => linkTranscript(session)),
      await attempt(sessionId, "the link to its directory", () => linkDirectory(session)),
    ];
    if (done.includes(false) && !isEnded(session))
      scheduler.atMost(sessionId, "keep-files", RETRY_MS, () => void queue.run(sessionId, () => sync(sessionId)));
  }

  async function attempt(sessionId: string, what: string, work: () => Promise<string | null>): Promise<boolean> {
    const why = await work().catch(whyNot);
    if (why === null) await warnings.worked(sessionId, what).catch(() => undefined);
    else await warnings.failed(sessionId, what, why).catch(() => undefined);
    return why === null;
  }

  async function writeRuntimeFile(session: Session): Promise<null> {
    const { agent, runtime } = session.identity;
    const planned = argvs.get(session.id);
    await updateRuntimeFile(session, {
      reeve: version ?? "",
      runtime: parts.runtime(runtime),
      pathVariables: parts.agent(agent).pathVariables,
      argv: planned?.incarnation === session.process.incarnation ? planned.argv : null,
      redact: await redactorOf(session),
    });
    return null;
  }

  /** A link to the agent's own file. Of one that the agent may remove, a copy without secrets once its process is gone. */
  async function linkTranscript(session: Session): Promise<string | null> {
    const { identity, watch, conversation, process } = session;
    const { transcriptPath } = watch.observability;
    if (transcriptPath === null) return null;
    const agent = parts.agent(identity.agent);
    const { files } = parts.runtime(identity.runtime);
    const { nativeId } = conversation;
    const name = nativeId === null ? undefined : agent.transcriptName?.(nativeId);
    const path = join(identity.outputsDir, name ?? TRANSCRIPT_LINK);
    if (path === transcriptPath) return null;
    const isThere = (await files.stat(transcriptPath))?.isFile === true;
    const isAlive = process.place !== null && process.exit === null;
    if (agent.deletesTranscripts === true && !isAlive) {
      const values = await secretsOf(session);
      const isKept = await keepCopy(files, {
        from: transcriptPath,
        to: path,
        redact: values === null ? null : createRedaction(values).text,
      });
      if (!isKept)
        return `Reeve did not see this process start, so it does not know which secrets the transcript may hold, and made no copy. The agent's own file is ${transcriptPath}; copy it yourself before the agent removes it.`;
    } else if (isThere && agent.deletesTranscripts === true) await linkUnlessCopied(files, path, transcriptPath);
    else if (isThere) await files.link(path, transcriptPath, "replace");
    return null;
  }

  async function linkDirectory(session: Session): Promise<string | null> {
    const path = directoryLinkOf(session);
    if (path === null || session.watch.observability.status !== "observable") return null;
    const { files } = parts.runtime(session.identity.runtime);
    if (await files.link(path, session.identity.outputsDir, "new")) return null;
    return `${path} is there already and not Reeve's, so it does not lead to the session's directory. Move it away if you want that.`;
  }

  /** Its files were brought up to date when it ended, or soon after by the next daemon. */
  function isLongOver(session: Session): boolean {
    return isEnded(session) && clock.now() - (session.process.endedAt ?? 0) > LONG_MS;
  }

  function directoryLinkOf({ identity, conversation }: Session): string | null {
    const { nativeId } = conversation;
    return parts.agent(identity.agent).directoryLink?.({ nativeId, launch: identity.launch }) ?? null;
  }

  return {
    hear(message, fields) {
      const sessionId = fields !== undefined && "session" in fields ? fields.session : undefined;
      if (typeof sessionId === "string") projection.hear(sessionId, message, fields ?? {});
    },
    planned(session, launch) {
      if (session.identity.launch.persistence === null) return launch;
      argvs.set(session.id, { incarnation: session.process.incarnation, argv: launch.plan.argv });
      void queue.run(session.id, () => sync(session.id));
      return launch;
    },
    attend(session) {
      if (session.identity.launch.persistence === null || isLongOver(session)) return;
      const { process, watch, conversation } = session;
      const facts = [
        process.incarnation,
        process.place !== null,
        process.exit !== null,
        watch.observability.status,
        watch.observability.transcriptPath,
        watch.version,
        conversation.nativeId,
      ].join("\n");
      if (seen.get(session.id) === facts) return;
      seen.set(session.id, facts);
      void queue.run(session.id, () => sync(session.id));
    },
    told(sessionId, what, why, missing) {
      const said = why === null ? warnings.worked(sessionId, what, missing) : warnings.failed(sessionId, what, why);
      said.catch(() => undefined);
    },
    problems: (sessionId) => warnings.open(sessionId),
    report: (sessionId, file, failure) =>
      void attempt(sessionId, file, async () => (failure === null ? null : whyNot(failure))),
    start(reeve) {
      version = reeve;
      projection.start();
    },
    async retire(session) {
      if (session.identity.launch.persistence === null) return;
      seen.delete(session.id);
      argvs.delete(session.id);
      secrets.delete(session.id);
      scheduler.cancel(session.id, "keep-files");
      await projection.retire(session.id);
      const link = directoryLinkOf(session);
      if (link === null) return;
      const { files } = parts.runtime(session.identity.runtime);
      await queue.run(session.id, () => files.unlink(link, session.identity.outputsDir)).catch(() => undefined);
    },
    async close() {
      await queue.idle();
      await projection.close();
    },
  };
}
