/** Finds out, for every ended session, what the rules of retention need to know of it (fleet/retention.ts). */
import { type Candidate, type Known, vetoOf } from "../../fleet/retention.ts";
import type { RetentionSettings } from "../../fleet/retention-settings.ts";
import { type Worktree } from "../../fleet/worktree.ts";
import type { InboxItem } from "../../fleet/inbox.ts";
import type { UnreadCount } from "../../fleet/unread-mail.ts";
import { treeBytes } from "../../platform/remove-tree.ts";
import { isEnded, type Session } from "../../session/session.ts";
import type { Store } from "../../store/contract.ts";
import type { SessionDirectories } from "./session-directory.ts";

/** Says what open work refers to a session, in a sentence; null: nothing does. */
export type Referenced = (sessionId: string) => string | null;

export interface FactParts {
  readonly store: Store;
  readonly directories: SessionDirectories;
  readonly mail: { unread(recipient: string): UnreadCount };
  readonly inbox: { items(): readonly InboxItem[] };
  /** What a living session has not been told yet of those that it started. */
  readonly wakes: { due(session: Session): Promise<{ readonly events: readonly Due[] }> };
  readonly worktrees: { list(): Promise<readonly Worktree[]> };
  readonly referenced: readonly Referenced[];
}

interface Due {
  readonly seq: number;
  readonly sessionId: string;
}

/** What is the same for all sessions of one run. */
export interface Surroundings {
  /** What living sessions are still to be woken for. */
  readonly due: readonly Due[];
  readonly worktrees: ReadonlyMap<string, string>;
}

export async function lookAround({ store, wakes, worktrees }: FactParts): Promise<Surroundings> {
  const due: Due[] = [];
  for (const session of store.registry.living()) {
    if (store.registry.childrenOf(session.id).length === 0) continue;
    due.push(...(await wakes.due(session)).events);
  }
  return { due, worktrees: new Map((await worktrees.list()).map(({ sessionId, path }) => [sessionId, path])) };
}

export interface SessionFacts {
  /** As it is at this moment, without waiting for anything. */
  known(session: Session, around: Surroundings): Known;
  candidates(
    around: Surroundings,
    settings: RetentionSettings,
    now: number,
    pause: () => Promise<boolean>,
  ): Promise<readonly Candidate[]>;
  forget(sessionId: string): void;
}

export function createSessionFacts(parts: FactParts): SessionFacts {
  const { store, mail, inbox, directories } = parts;
  /** An ended session writes nothing any more: its directory is measured once. */
  const measured = new Map<string, { readonly revision: number; readonly bytes: number }>();

  function hasLivingDescendant(session: Session, seen: Set<string> = new Set([session.id])): boolean {
    return store.registry.childrenOf(session.id).some((child) => {
      if (seen.has(child.id)) return false;
      seen.add(child.id);
      return !isEnded(child) || hasLivingDescendant(child, seen);
    });
  }

  function known(session: Session, { due, worktrees }: Surroundings): Known {
    const { id } = session;
    return {
      openMessages: store.mailbox.open(id).length,
      unreadMail: mail.unread(id).unread,
      openItems: inbox.items().filter(({ sessionId }) => sessionId === id).length,
      hasLivingDescendant: hasLivingDescendant(session),
      isParentUntold: due.some(({ sessionId }) => sessionId === id),
      worktree: worktrees.get(id) ?? null,
      referenced: parts.referenced.map((ask) => ask(id)).find((why) => why !== null) ?? null,
      directoryProblem: directories.problemWith(id, session.identity.outputsDir),
    };
  }

  async function bytesOf({ id, revision, identity }: Session): Promise<number> {
    const before = measured.get(id);
    if (before?.revision === revision) return before.bytes;
    const bytes = await treeBytes(identity.outputsDir);
    measured.set(id, { revision, bytes });
    return bytes;
  }

  return {
    known,
    async candidates(around, settings, now, pause) {
      const found: Candidate[] = [];
      for (const session of store.registry.all()) {
        if (!isEnded(session)) continue;
        const facts = known(session, around);
        const bytes = facts.directoryProblem === null ? await bytesOf(session) : 0;
        found.push({ session, bytes, veto: vetoOf(session, facts, settings, now) });
        if (found.length % AT_ONCE === 0 && !(await pause())) break;
      }
      return found;
    },
    forget: (sessionId) => void measured.delete(sessionId),
  };
}

const AT_ONCE = 50;
