/**
 * What the start does not wait for: comparing every state.json with the
 * registry and mending whichever is behind. What it mends is told in the log.
 */
import { messageOf } from "../platform/reeve-error.ts";
import type { EventBody, LoggedEvent } from "../session/event.ts";
import { join } from "node:path";
import type { CommitQueue } from "./commit-queue.ts";
import type { StoreOptions } from "./options.ts";
import { quarantineStateFile, STATE_FILE, type StateRecord } from "./state-file.ts";
import { scanStateFiles, type Verdict } from "./state-scan.ts";
import type { StateWriter } from "./state-writer.ts";
import type { Staged, Tables } from "./tables.ts";

export interface VerificationOptions {
  readonly store: StoreOptions;
  readonly tables: Tables;
  readonly queue: CommitQueue<Staged>;
  readonly writer: StateWriter;
}

export async function verifyStateFiles({ store, tables, queue, writer }: VerificationOptions): Promise<void> {
  const { clock, log, outputsRoot } = store;

  const append = (sessionId: string | null, body: EventBody): readonly LoggedEvent[] =>
    tables.log.append([{ sessionId, body }]);

  const restore = async ({ session }: StateRecord, directory: string): Promise<void> => {
    const path = join(directory, STATE_FILE);
    log("a state.json was ahead of the database and was taken", { path, revision: session.revision });
    await queue.enqueue(() => {
      if (!tables.registry.restore(session)) return { session: undefined, messages: [], events: [] };
      const events = append(session.id, { type: "store-rebuilt", from: path, sessions: 1, quarantined: "" });
      return { session, messages: [], events };
    });
  };

  const act = async (directory: string, verdict: Verdict): Promise<void> => {
    switch (verdict.kind) {
      case "same":
        return;
      case "stale":
        return writer.put({ seq: tables.log.head(), session: verdict.session });
      case "ahead":
        return restore(verdict.record, directory);
      case "unreadable":
        return log("a state.json could not be read", { directory, why: verdict.why });
      case "corrupt": {
        const { session, why } = verdict;
        const path = await quarantineStateFile(directory, clock.now());
        log("a state.json was bad and was set aside", { path, why });
        if (session) writer.put({ seq: tables.log.head(), session });
        await queue.enqueue(() => ({
          session: undefined,
          messages: [],
          events: append(session?.id ?? null, { type: "state-file-quarantined", path, why }),
        }));
      }
    }
  };

  await scanStateFiles(outputsRoot, tables.registry, (directory, verdict) =>
    act(directory, verdict).catch((error: unknown) =>
      log("a state.json could not be mended", { directory, why: messageOf(error) }),
    ),
  );
}
