/**
 * What Reeve keeps an eye on while a session lives: its spool, its terminal
 * output (recorded, bounded), its transcript's first appearance. Begun when
 * its process is there, ended when that is proven gone.
 */
import { stat } from "node:fs/promises";
import type { Agent } from "../agent/contract.ts";
import type { OutputLog } from "../capture/output-log.ts";
import { openOutputLog } from "../capture/output-log.ts";
import { redact } from "../capture/redaction.ts";
import type { Clock } from "../platform/clock.ts";
import type { Log } from "../platform/log.ts";
import { messageOf } from "../platform/reeve-error.ts";
import type { Runtime } from "../runtime/contract.ts";
import type { Session } from "../session/session.ts";
import { isEnded } from "../session/session.ts";
import type { Store } from "../store/contract.ts";
import { targetOf } from "./effects.ts";
import type { Environment } from "./environment.ts";
import { readEnvFile, secretValues } from "./environment.ts";
import type { Ledger } from "./ledger.ts";
import type { Settings } from "./settings.ts";
import { createSpool } from "./spool.ts";

export interface Attention {
  /** Before its process is created, so that not a byte of its output is missed; with its environment if that is known. */
  prepare(session: Session, environment: Environment | null): void;
  /** Brings what is watched in line with the session; cheap when nothing changed. */
  attend(session: Session): void;
  /** Reads what the hooks of a session left that ended while nobody watched. */
  catchUp(session: Session): void;
  /** Without the session's secrets; null when these are not known, and so nothing may be written. */
  redact(session: Session, text: string): string | null;
  close(): Promise<void>;
}

interface Watched {
  readonly incarnation: number;
  readonly output: OutputLog;
  readonly stopStream: () => void;
}

export function createAttention(parts: {
  readonly store: Store;
  readonly ledger: Ledger;
  readonly agent: (name: string) => Agent;
  readonly runtime: (kind: string) => Runtime;
  readonly clock: Clock;
  readonly log: Log;
  readonly settings: Settings;
}): Attention {
  const watched = new Map<string, Watched>();
  /** Outlives the process: its last screen is written after its end. */
  const secretsBySession = new Map<string, readonly string[]>();
  const spool = createSpool(parts);

  function begin(session: Session): void {
    const since = new Date(parts.clock.now()).toISOString();
    const secrets = (): readonly string[] | null => secretsOf(session);
    const output = openOutputLog({
      directory: session.outputsDir,
      secrets,
      mostBytes: parts.settings.outputLogBytes,
      since,
      log: parts.log,
    });
    const stopStream = parts.runtime(session.runtime).stream(targetOf(session), (bytes) => output.push(bytes));
    watched.set(session.id, { incarnation: session.incarnation, output, stopStream });
    if (session.hasTurns) spool.follow(session).catch(report(session));
  }

  function end(session: Session, watching: Watched): void {
    watched.delete(session.id);
    watching.stopStream();
    watching.output.close().catch(report(session));
    if (session.hasTurns) spool.leave(session).catch(report(session));
  }

  /** As told before the start; else read from the living process, which its own user may; else not known. */
  function secretsOf(session: Session): readonly string[] | null {
    const told = secretsBySession.get(session.id);
    if (told !== undefined) return told;
    const environment = parts.runtime(session.runtime).environmentOf(targetOf(session), session.place);
    return environment === null ? null : remember(session, environment);
  }

  function remember(session: Session, environment: Environment): readonly string[] {
    let file: Environment = {};
    try {
      file = readEnvFile(session.launch.envFile);
    } catch {
      // Its values, as far as the process has them, are in its environment.
    }
    const secrets = secretValues({ ...file, ...environment }, [...Object.keys(file), ...session.launch.envNames]);
    secretsBySession.set(session.id, secrets);
    return secrets;
  }

  async function lookForTranscript(session: Session): Promise<void> {
    const { status, transcriptPath } = session.observability;
    if (status !== "pending" || transcriptPath === null) return;
    const about = await stat(transcriptPath).catch(() => null);
    if (about === null || !about.isFile() || about.size === 0) return;
    const reading = { source: "transcript", detail: `${transcriptPath} is there`, transcript: "observable" } as const;
    await parts.ledger.apply(session.id, { type: "read", incarnation: session.incarnation, reading });
  }

  function report(session: Session): (error: unknown) => void {
    return (error) => parts.log("a session could not be watched", { session: session.id, why: messageOf(error) });
  }

  return {
    prepare(session, environment) {
      if (environment !== null) remember(session, environment);
      const watching = watched.get(session.id);
      if (watching !== undefined && watching.incarnation !== session.incarnation) end(session, watching);
      if (!watched.has(session.id)) begin(session);
    },
    attend(session) {
      const watching = watched.get(session.id);
      const isOver = session.exit !== null || watching?.incarnation !== session.incarnation;
      if (watching !== undefined && isOver) end(session, watching);
      if (session.exit === null && session.place !== null) {
        if (!watched.has(session.id)) begin(session);
        // While the process lives its environment can be read; afterwards it is too late.
        secretsOf(session);
      }
      if (session.state === "stopped" && session.stop === null) secretsBySession.delete(session.id);
      if (session.observability.status === "pending" && session.observability.transcriptPath !== null) {
        lookForTranscript(session).catch(report(session));
      }
    },
    catchUp(session) {
      if (session.hasTurns && session.exit !== null && !isEnded(session)) spool.leave(session).catch(report(session));
    },
    redact: (session, text) => {
      const secrets = secretsOf(session);
      return secrets === null ? null : redact(text, secrets);
    },
    async close() {
      for (const watching of watched.values()) watching.stopStream();
      await Promise.all([...watched.values()].map((watching) => watching.output.close()));
      await spool.close();
    },
  };
}
