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
import type { Store } from "../store/contract.ts";
import { targetOf } from "./effects.ts";
import { readEnvFile, secretValues } from "./environment.ts";
import type { Ledger } from "./ledger.ts";
import type { Settings } from "./settings.ts";
import { createSpool } from "./spool.ts";

export interface Attention {
  /** Brings what is watched in line with the session; cheap when nothing changed. */
  attend(session: Session): void;
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
    const runtime = parts.runtime(session.runtime);
    const secrets = secretsOf(runtime, session);
    secretsBySession.set(session.id, secrets);
    const since = new Date(parts.clock.now()).toISOString();
    const output = openOutputLog({ directory: session.outputsDir, secrets, mostBytes: parts.settings.outputLogBytes, since, log: parts.log });
    const stopStream = runtime.stream(targetOf(session), (bytes) => output.push(bytes));
    watched.set(session.id, { incarnation: session.incarnation, output, stopStream });
    if (parts.agent(session.agent).capabilities.turns) spool.follow(session).catch(report(session));
  }

  function end(session: Session, watching: Watched): void {
    watched.delete(session.id);
    watching.stopStream();
    watching.output.close().catch(report(session));
    if (parts.agent(session.agent).capabilities.turns) spool.leave(session).catch(report(session));
  }

  /** Readable from the living process by its own user, so it is kept nowhere else. */
  function secretsOf(runtime: Runtime, session: Session): readonly string[] {
    const environment = runtime.environmentOf(targetOf(session)) ?? {};
    let file: Readonly<Record<string, string>> = {};
    try {
      file = readEnvFile(session.launch.envFile);
    } catch {
      // Its values, if the process has them, are in its environment under the same names.
    }
    return secretValues({ ...file, ...environment }, [...Object.keys(file), ...session.launch.envNames]);
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
    attend(session) {
      const watching = watched.get(session.id);
      const isLive = session.exit === null && session.place !== null;
      if (watching !== undefined && (!isLive || watching.incarnation !== session.incarnation)) end(session, watching);
      if (isLive && !watched.has(session.id)) begin(session);
      if (session.exit !== null && session.stop === null) secretsBySession.delete(session.id);
      if (session.observability.status === "pending" && session.observability.transcriptPath !== null) lookForTranscript(session).catch(report(session));
    },
    redact: (session, text) => {
      const secrets = secretsBySession.get(session.id);
      return secrets === undefined ? null : redact(text, secrets);
    },
    async close() {
      for (const watching of watched.values()) watching.stopStream();
      await Promise.all([...watched.values()].map((watching) => watching.output.close()));
      await spool.close();
    },
  };
}
