/**
 * Compares every state.json with the registry, after the start. The database
 * was opened without damage, so it counts: a file that is older is written
 * again, and a file that says more than the database (an unknown session, a
 * higher revision) is set aside and reported. Agents can write these files, so
 * Reeve starts nothing because of them.
 */
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { messageOf } from "../platform/reeve-error.ts";
import type { Session } from "../session/session.ts";
import type { Committer } from "./contract.ts";
import type { StoreOptions } from "./options.ts";
import { quarantineStateFile, STATE_FILE } from "./state-file.ts";
import { scanStateFiles, type Verdict } from "./state-scan.ts";
import type { StateWriter } from "./state-writer.ts";
import type { Tables } from "./tables.ts";

export interface VerificationOptions {
  readonly store: StoreOptions;
  readonly tables: Tables;
  readonly queue: Committer;
  readonly writer: StateWriter;
}

/** Resolves with a sentence about each file that waits for somebody to look at it. */
export async function verifyStateFiles({
  store,
  tables,
  queue,
  writer,
}: VerificationOptions): Promise<readonly string[]> {
  const { clock, log, outputsRoot } = store;
  const warnings: string[] = [];

  const setAside = async (
    directory: string,
    as: "corrupt" | "unknown",
    why: string,
    session: Session | undefined,
  ): Promise<string> => {
    const path = await quarantineStateFile(directory, clock.now(), as);
    log("a state.json was set aside", { path, why });
    if (session) writer.put({ seq: tables.log.head(), session });
    const event = { sessionId: session?.id ?? null, body: { type: "state-file-quarantined", path, why } } as const;
    await queue.commit({ events: [event] });
    return path;
  };

  const act = async (directory: string, verdict: Verdict): Promise<void> => {
    switch (verdict.kind) {
      case "same":
        return;
      case "missing":
        for (const name of await unknownFiles(directory)) warnings.push(warningOf(join(directory, name)));
        return;
      case "stale":
        return writer.put({ seq: tables.log.head(), session: verdict.session });
      case "unknown":
        warnings.push(warningOf(await setAside(directory, "unknown", UNKNOWN, undefined)));
        return;
      case "ahead":
        await setAside(directory, "corrupt", AHEAD, verdict.session);
        return;
      case "unreadable":
        return log("a state.json could not be read", { directory, why: verdict.why });
      case "corrupt":
        await setAside(directory, "corrupt", verdict.why, verdict.session);
    }
  };

  await scanStateFiles(outputsRoot, tables.registry, (directory, verdict) =>
    act(directory, verdict).catch((error: unknown) =>
      log("a state.json could not be repaired", { directory, why: messageOf(error) }),
    ),
  );
  return warnings;
}

const AHEAD = "it is newer than the database; Reeve trusts the database and took nothing from the file";
const UNKNOWN =
  "the database does not know this session, so it was not started; if you want it, read the file and start it with reeve start, else delete the file";

function warningOf(path: string): string {
  return `${path} describes a session that Reeve does not know. It was not started. If you want it, read the file and start it with reeve start; then delete the file.`;
}

/** Set aside by this daemon or an earlier one, and still there. */
async function unknownFiles(directory: string): Promise<readonly string[]> {
  return (await readdir(directory)).filter((name) => name.startsWith(`${STATE_FILE}.unknown-`));
}
