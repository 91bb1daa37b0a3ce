/**
 * Records the terminals of sessions of which everything is kept
 * (`launch.persistence`), and of no others. The file of a session is written by
 * one recording at a time: the one of a new process waits for the one before.
 */
import { createRedaction } from "../../capture/redaction.ts";
import { createTagger } from "../../capture/secret-tag.ts";
import { openTerminalCast } from "../../capture/terminal-cast.ts";
import type { Clock } from "../../platform/clock.ts";
import type { Runtime } from "../../runtime/contract.ts";
import type { TerminalFollowing } from "../../runtime/terminal.ts";
import type { Session } from "../../session/session.ts";
import { targetOf } from "../ledger/target.ts";

export interface Recording {
  close(): Promise<void>;
}

export interface Recordings {
  /** Adopted: its process was there before. Null where nothing is to be recorded. */
  begin(session: Session, isAdopted: boolean): Recording | null;
  close(): Promise<void>;
}

/** Of one file; one older file is kept. An hour of a busy agent is some megabytes. */
const MOST_BYTES = 16_777_216;

export function createRecordings(parts: {
  readonly runtime: (kind: string) => Runtime;
  readonly clock: Clock;
  readonly secrets: (sessionId: string) => Promise<readonly string[] | null>;
  /** Of the home, for tags in the place of secrets. */
  readonly tagKey: () => string;
  readonly onRecorded?: (sessionId: string, failure: unknown) => void;
}): Recordings {
  const open = new Map<string, Recording>();
  /** What the recordings before still write. */
  const closing = new Map<string, Promise<void>>();

  return {
    begin(session, isAdopted) {
      const { id, identity, process: of } = session;
      const runtime = parts.runtime(identity.runtime);
      if (identity.launch.persistence === null || !runtime.capabilities.stream) return null;
      let following: TerminalFollowing | null = null;
      const cast = openTerminalCast({
        directory: identity.outputsDir,
        title: identity.name,
        // What a player is to take it for, whatever the runtime calls it.
        environment: { TERM: "xterm-256color", SHELL: process.env["SHELL"] ?? "/bin/sh" },
        mostBytes: MOST_BYTES,
        clock: parts.clock,
        told: (failure) => parts.onRecorded?.(id, failure),
        start: of.incarnation,
        isAdopted,
        async newRedactor() {
          const secrets = await parts.secrets(id);
          if (secrets === null) return null;
          const redaction = createRedaction(secrets, { tag: createTagger(parts.tagKey()) });
          return () => redaction.stream();
        },
        repaint: () => following?.repaint(),
        after: closing.get(id),
      });
      following = runtime.follow(targetOf(session), cast.push);
      if (isAdopted) following.repaint();
      const recording: Recording = {
        close() {
          if (open.get(id) === recording) open.delete(id);
          following?.stop();
          const closed = cast.close().finally(() => {
            if (closing.get(id) === closed) closing.delete(id);
          });
          closing.set(id, closed);
          return closed;
        },
      };
      open.set(id, recording);
      return recording;
    },
    async close() {
      for (const recording of open.values()) void recording.close();
      await Promise.all(closing.values());
    },
  };
}
