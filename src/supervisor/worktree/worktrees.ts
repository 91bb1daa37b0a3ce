/**
 * The worktrees that Reeve makes for sessions: made, used again, listed, saved
 * and removed. The record is committed before git is called, so a daemon that
 * was killed in between finds what it was about. Of one repository one thing is
 * done at a time.
 */
import type { WorktreeEvent } from "../../session/home-event.ts";
import { obstaclesIn, type Obstacle, worksIn, type WorktreeFacts } from "../../fleet/worktree-judgement.ts";
import { type Saved, type Worktree, worktreeKind } from "../../fleet/worktree.ts";
import type { Clock } from "../../platform/clock.ts";
import { createKeyedQueue } from "../../platform/keyed-queue.ts";
import type { Log } from "../../platform/log.ts";
import { messageOf, ReeveError } from "../../platform/reeve-error.ts";
import type { Runtime } from "../../runtime/contract.ts";
import { signature } from "../../session/caller.ts";
import type { Records, Store } from "../../store/contract.ts";
import type { GitSettings } from "../launch/git-settings.ts";
import type { Wish } from "../ledger/ledger.ts";
import { lookAt } from "./look.ts";
import { createMaking, type MadeWorktree, type MakingRequest } from "./making.ts";
import { type Removal, type RemovalRequest, removeWorktree } from "./removal.ts";
import { refusal, type Tool, toolIn, worktreesOf } from "./repository.ts";
import { saveWork } from "./snapshot.ts";

export interface Worktrees {
  readonly records: Records<Worktree>;
  /**
   * A new one, or one that was there; refused with a sentence, and nothing is changed then. Until it is released nobody
   * else gets it: its session is not recorded yet.
   */
  make(request: MakingRequest): Promise<MadeWorktree>;
  release(made: MadeWorktree): void;
  /** Of a start that came to nothing: what was made for it goes, unless something is in it. */
  discard(made: MadeWorktree, wish: Wish): Promise<void>;
  /** As it is now. */
  report(worktree: Worktree): Promise<WorktreeReport>;
  /** The key of the request is kept with the intent: a repeat finds out what became of it. */
  remove(id: string, request: RemovalRequest, wish: Wish): Promise<Removal>;
  save(id: string, wish: Wish): Promise<Saved>;
  /** At the start of the daemon: what the one before was doing. */
  recover(): Promise<void>;
  idle(): Promise<void>;
}

export interface WorktreeReport {
  readonly worktree: Worktree;
  /** Null where it could not be looked at: `problem` says why. */
  readonly facts: WorktreeFacts | null;
  readonly problem: string | null;
  /** Why it would be kept. */
  readonly obstacles: readonly Obstacle[];
}

export interface WorktreeParts {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Log;
  readonly runtime: (kind: string) => Runtime;
  readonly settings: GitSettings;
}

export function createWorktrees(parts: WorktreeParts): Worktrees {
  const { store, clock, log, settings } = parts;
  const records = store.records(worktreeKind);
  const queue = createKeyedQueue();
  /** Paths of those that a start is about to use. */
  const claimed = new Set<string>();

  const toolFor = async ({
    runtime,
    repository,
    paths,
  }: Pick<Worktree, "runtime" | "repository" | "paths">): Promise<Tool> =>
    await toolIn(parts.runtime(runtime).files, repository, paths, clock);

  const usersOf = (path: string): readonly string[] => [
    ...store.registry
      .living()
      .filter(({ identity, checkout }) => worksIn({ cwd: identity.launch.cwd, worktree: checkout.worktree }, path))
      .map(({ identity }) => `session ${identity.name}`),
    ...(claimed.has(path) ? ["a session that is being started"] : []),
  ];

  const look = async (tool: Tool, worktree: Worktree): Promise<WorktreeFacts> =>
    await lookAt(tool, worktree, settings, usersOf(worktree.path));

  /** The next revision, with what happened. Null: the record goes. */
  async function record(
    worktree: Worktree,
    next: Partial<Worktree> | null,
    event: WorktreeEvent | null = null,
    { caller, idempotency }: Partial<Wish> = {},
  ): Promise<Worktree> {
    const changed = { ...worktree, ...next, revision: worktree.revision + 1 };
    const sessionId = store.registry.get(changed.sessionId)?.id ?? null;
    await store.commit({
      changes: [next === null ? worktreeKind.remove(worktree) : worktreeKind.put(changed)],
      events: event === null ? [] : [{ sessionId, body: event, ...(caller === undefined ? {} : signature(caller)) }],
      ...(idempotency === undefined ? {} : { idempotency }),
    });
    return changed;
  }

  const making = createMaking({ ...parts, records, usersOf, record, claim: (path) => void claimed.add(path) });

  async function withRecord<T>(id: string, work: (worktree: Worktree, tool: Tool) => Promise<T>): Promise<T> {
    const known = await records.get(id);
    if (known === undefined) throw unknownWorktree(id);
    return await queue.run(known.repository, async () => {
      const worktree = await records.get(id);
      if (worktree === undefined) throw unknownWorktree(id);
      return await work(worktree, await toolFor(worktree));
    });
  }

  async function remove(worktree: Worktree, tool: Tool, request: RemovalRequest, wish: Wish): Promise<Removal> {
    const { path, branch } = worktree;
    const about = { worktreeId: worktree.id, path, branch };
    let current = worktree;
    const by = { caller: wish.caller };
    const keep = async (why: string, saved = current.saved): Promise<void> => {
      current = await record(current, { state: "ready", saved }, { type: "worktree-kept", ...about, why }, by);
    };
    // Somebody else removed it: there is nothing to lose any more.
    if ((await tool.files.realPath(path)) === null && (await listedAt(tool, worktree)) === undefined) {
      await record(current, null, { type: "worktree-removed", ...about, savedRef: current.saved?.ref ?? null }, wish);
      return { ...GONE, saved: current.saved };
    }
    try {
      const removal = await removeWorktree(
        {
          tool,
          worktree,
          look: () => look(tool, worktree),
          now: () => clock.now(),
          intend: async () => {
            current = await record(current, { state: "removing" }, null, wish);
          },
        },
        request,
      );
      const ref = removal.saved?.ref ?? current.saved?.ref ?? null;
      if (removal.isRemoved) await record(current, null, { type: "worktree-removed", ...about, savedRef: ref }, by);
      else await keep(removal.obstacles.map(({ text }) => text).join(" "), removal.saved ?? current.saved);
      return removal;
    } catch (error) {
      if (current.state === "removing") await keep(messageOf(error));
      throw error;
    }
  }

  async function recoverOne(left: Worktree): Promise<void> {
    await withRecord(left.id, async (worktree, tool) => {
      // A request has taken it up since.
      if (worktree.revision !== left.revision) return;
      const isThere = (await tool.files.realPath(worktree.path)) !== null;
      const listed = await listedAt(tool, worktree);
      const about = { worktreeId: worktree.id, path: worktree.path, branch: worktree.branch };
      if (worktree.state === "removing") {
        if (!isThere && listed === undefined)
          await record(worktree, null, { type: "worktree-removed", ...about, savedRef: worktree.saved?.ref ?? null });
        else await record(worktree, { state: "ready" });
        return;
      }
      if (!isThere && listed === undefined) await record(worktree, null);
      else if (listed?.locked === null) await record(worktree, { state: "ready" });
    });
  }

  return {
    records,

    make: (request) => making.make(request, queue),

    release: ({ worktree }) => void claimed.delete(worktree.path),

    async discard({ worktree, isNew }, wish) {
      if (!isNew) return;
      // What it began from is nobody's work yet.
      const without = ["unpushed", "merge-unknown", "stashed", "ignored-files"];
      await withRecord(worktree.id, async (current, tool) => {
        const removal = await remove(current, tool, { save: false, deleteBranch: false, without }, wish);
        const { base, branch, isBranchOurs, repository } = current;
        if (removal.isRemoved && isBranchOurs && base !== null)
          await tool.maybe(repository, ["update-ref", "-d", `refs/heads/${branch}`, base.commit]);
      }).catch((error: unknown) => log("a worktree of a start that failed is left", { id: worktree.id, why: error }));
    },

    async report(worktree) {
      try {
        const facts = await look(await toolFor(worktree), worktree);
        return { worktree, facts, problem: null, obstacles: obstaclesIn(facts) };
      } catch (error) {
        return { worktree, facts: null, problem: messageOf(error), obstacles: [] };
      }
    },

    remove: (id, request, wish) =>
      withRecord(id, (worktree, tool) => remove(worktree, tool, request, wish)).catch((error: unknown) => {
        // Somebody else removed it, or the daemon when it took up what the one before had begun.
        if (error instanceof ReeveError && error.code === "unknown-worktree") return GONE;
        throw error;
      }),

    save: (id, wish) =>
      withRecord(id, async (worktree, tool) => {
        const facts = await look(tool, worktree);
        const blocking = obstaclesIn(facts).find(({ code }) => UNSAVABLE.includes(code));
        if (blocking !== undefined)
          throw refusal("cannot-save", `The work in ${worktree.path} cannot be saved as one commit: ${blocking.text}`);
        const saved = await saveWork(tool, worktree, facts, clock.now());
        const about = { worktreeId: worktree.id, path: worktree.path, branch: worktree.branch };
        const event = { type: "worktree-saved", ...about, ref: saved.ref, commit: saved.commit } as const;
        await record(worktree, { saved }, event, wish);
        return saved;
      }),

    async recover() {
      for (const worktree of await records.list())
        if (worktree.state !== "ready")
          await recoverOne(worktree).catch((error: unknown) =>
            log("a worktree was not taken up again", { id: worktree.id, why: error }),
          );
    },

    idle: () => queue.idle(),
  };
}

const GONE: Removal = { isRemoved: true, obstacles: [], saved: null, branch: null, dropped: [] };

/** What a commit of this repository cannot hold. */
const UNSAVABLE = ["strange", "nested-repository", "unmerged"];

async function listedAt(tool: Tool, { repository, path }: Worktree) {
  return (await worktreesOf(tool, repository)).find((one) => one.path === path);
}

export function unknownWorktree(reference: string): ReeveError {
  return new ReeveError({
    code: "unknown-worktree",
    kind: "not-found",
    message: `There is no worktree of Reeve's called "${reference}"; see reeve worktree list.`,
  });
}
