/**
 * Removes one session, in steps that a kill -9 may separate anywhere:
 *
 *   1. the intent is committed (fleet/removal.ts)     the session is whole
 *   2. its directory is moved to outputs/removed      no state.json stands for it any more
 *   3. record and messages go in one commit           nobody knows the session
 *   4. what was moved is deleted
 *   5. the intent is removed
 *
 * A daemon that finds an intent goes on with step 2 or 4. It does so before it
 * takes requests, so nobody uses a session that is half removed.
 */
import { type Removal, removalKind } from "../../fleet/removal.ts";
import { failpoint } from "../../platform/failpoint.ts";
import type { Log } from "../../platform/log.ts";
import { messageOf } from "../../platform/reeve-error.ts";
import { isEnded, type Session } from "../../session/session.ts";
import { removeMessages, removeSession } from "../../store/change.ts";
import type { Store } from "../../store/contract.ts";
import type { Ledger } from "../ledger/ledger.ts";
import type { SessionDirectories } from "./session-directory.ts";

/** Messages in one commit. */
const MESSAGES_AT_ONCE = 200;

export interface SessionRemoval {
  /** False: it changed since it was chosen, or `stays` says so; it is as it was. */
  remove(chosen: Session, stays: (session: Session) => boolean): Promise<boolean>;
  /** What an earlier run, or the daemon before, left: all of it, or only what keeps others from using a session. */
  finishLeft(how: "all" | "records-only"): Promise<void>;
}

export function createSessionRemoval(parts: {
  readonly store: Store;
  readonly ledger: Pick<Ledger, "alone">;
  readonly directories: SessionDirectories;
  readonly log: Log;
  readonly onRemoving?: (session: Session) => Promise<void>;
}): SessionRemoval {
  const { store, ledger, directories, log } = parts;
  const removals = store.records(removalKind);

  /** Steps 2 and 3; null where the session stays after all. */
  async function takeOut(removal: Removal): Promise<Removal | null> {
    const session = store.registry.get(removal.id);
    if (session !== undefined && !isEnded(session)) return await takeBack(removal);
    if (session !== undefined) await parts.onRemoving?.(session);
    const reinstate = await store.retire(removal.id);
    try {
      directories.moveAway(removal.id, removal.directory);
    } catch (error) {
      reinstate();
      log("a session's directory cannot be removed", { session: removal.id, why: messageOf(error) });
      return await takeBack(removal);
    }
    failpoint("prune.after-move");
    while (store.mailbox.count(removal.id) > MESSAGES_AT_ONCE) {
      await store.commit({ changes: [removeMessages(removal.id, MESSAGES_AT_ONCE)] });
      failpoint("prune.between-messages");
    }
    const gone: Removal = { ...removal, revision: removal.revision + 1, isGone: true };
    await store.commit({
      changes: [...(session === undefined ? [] : [removeSession(session)]), removalKind.put(gone)],
    });
    reinstate();
    failpoint("prune.after-record");
    return gone;
  }

  async function takeBack(removal: Removal): Promise<null> {
    await store.commit({ changes: [removalKind.remove(removal)] });
    return null;
  }

  /** Steps 4 and 5. */
  async function clearUp(removal: Removal): Promise<void> {
    await directories.deleteMoved(removal.id);
    failpoint("prune.after-delete");
    await store.commit({ changes: [removalKind.remove(removal)] });
    failpoint("prune.after-removal");
  }

  return {
    async remove(chosen, stays) {
      const gone = await ledger.alone(chosen.id, async () => {
        const session = store.registry.get(chosen.id);
        if (session === undefined || session.revision !== chosen.revision || stays(session)) return null;
        failpoint("prune.before-intent");
        const removal: Removal = { id: session.id, revision: 1, directory: session.identity.outputsDir, isGone: false };
        await store.commit({ changes: [removalKind.put(removal)] });
        failpoint("prune.after-intent");
        return await takeOut(removal);
      });
      if (gone === null) return false;
      await clearUp(gone).catch((error: unknown) =>
        log("files of a removed session are left, and are tried again", { session: gone.id, why: messageOf(error) }),
      );
      return true;
    },

    async finishLeft(how) {
      for (const removal of await removals.list()) {
        const gone = removal.isGone ? removal : await ledger.alone(removal.id, () => takeOut(removal));
        if (gone !== null && how === "all") await clearUp(gone);
      }
      if (how !== "all") return;
      // Of a database that was lost, and its intents with it.
      for (const id of await directories.moved())
        if (store.registry.get(id) === undefined) await directories.deleteMoved(id);
    },
  };
}
