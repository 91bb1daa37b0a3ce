/** Makes a worktree for a session, or takes up one that is there. The intent is recorded before git is called. */
import type { ListedWorktree } from "../../fleet/git-output.ts";
import { placeOf } from "../../fleet/worktree-place.ts";
import { type Worktree, worktreeKind } from "../../fleet/worktree.ts";
import type { Clock } from "../../platform/clock.ts";
import { failpoint } from "../../platform/failpoint.ts";
import { newWorktreeId } from "../../platform/ids.ts";
import type { KeyedQueue } from "../../platform/keyed-queue.ts";
import type { Runtime } from "../../runtime/contract.ts";
import type { Caller } from "../../session/caller.ts";
import type { WorktreeEvent } from "../../session/home-event.ts";
import type { Records, Store } from "../../store/contract.ts";
import type { GitSettings } from "../launch/git-settings.ts";
import { chosenBase, fetched, type Freshness, freshnessOf, lastFetchedAt } from "./base.ts";
import { furnish } from "./furnish.ts";
import { stateIn } from "./look.ts";
import { isHollow, whenMade } from "./half-made.ts";
import { freeBranch, freePlace, placeWithin, requireBranchName } from "./place.ts";
import { gitFailed, refusal, type Repository, repositoryAt, type Tool, toolIn, worktreesOf } from "./repository.ts";

export interface MakingRequest {
  readonly runtime: string;
  /** In the repository. */
  readonly cwd: string;
  /** Null: one of its own, called after `label`. */
  readonly branch: string | null;
  readonly label: string;
  readonly base: string | null;
  /** Null: as the settings say. */
  readonly fetch: boolean | null;
  readonly environment: Readonly<Record<string, string>>;
  readonly sessionId: string;
  readonly request: string | null;
  readonly caller: Caller;
}

export interface MadeWorktree {
  readonly worktree: Worktree;
  /** False: it was there, and is used again. */
  readonly isNew: boolean;
  /** Where the session works in it. */
  readonly cwd: string;
  readonly head: string;
  readonly freshness: Freshness | null;
  readonly fetchedAt: number | null;
  /** Of one that is used again: files that are not committed. */
  readonly changes: number;
  /** What is not as one would expect, a sentence each. */
  readonly notes: readonly string[];
}

interface MakingParts {
  readonly store: Store;
  readonly clock: Clock;
  readonly runtime: (kind: string) => Runtime;
  readonly settings: GitSettings;
  readonly records: Records<Worktree>;
  readonly usersOf: (path: string) => readonly string[];
  readonly claim: (path: string) => void;
  readonly record: (
    worktree: Worktree,
    next: Partial<Worktree> | null,
    event?: WorktreeEvent | null,
    wish?: { readonly caller: Caller },
  ) => Promise<Worktree>;
}

export function createMaking(parts: MakingParts) {
  const { store, clock, settings, records, usersOf, record } = parts;

  async function make(request: MakingRequest, queue: KeyedQueue): Promise<MadeWorktree> {
    const paths = pathsOf(request.environment);
    const tool = await toolIn(parts.runtime(request.runtime).files, request.cwd, paths, clock);
    const repository = await repositoryAt(tool, request.cwd);
    if (request.branch !== null) await requireBranchName(tool, repository, request.branch);
    const isWanted = request.fetch ?? settings.fetch;
    const problem = isWanted ? await fetched(tool, repository, request.environment) : null;
    const notes =
      problem === null ? [] : [`The remote was not fetched (${problem}); what this repository knew is used.`];
    return await queue.run(repository.common, async () => {
      const all = await records.list();
      const begun = request.request === null ? undefined : all.find((one) => one.request === request.request);
      const branch = request.branch ?? begun?.branch ?? (await freeBranch(tool, repository, request.label, all));
      const listed = (await worktreesOf(tool, repository.top)).find((one) => one.branch === branch);
      const context = { tool, repository, request, branch, notes, isFetched: isWanted && problem === null };
      const known = all.find((one) => one.repository === repository.common && one.path === listed?.path);
      if (listed !== undefined && (await isKept(context, listed, known)) && known !== undefined)
        return await finish(context, known, known.state === "making" || known === begun);
      return await add(context, all);
    });
  }

  /** Whether what has the branch checked out is used. False: it was half made, held nothing, and is gone. */
  async function isKept(context: Context, listed: ListedWorktree, known: Worktree | undefined): Promise<boolean> {
    const { tool, branch, request } = context;
    if (listed.prunable !== null || (await tool.files.realPath(listed.path)) === null)
      throw refusal(
        "branch-checked-out",
        `Branch ${branch} is checked out in ${listed.path}, which is not there any more; forget that with: git -C ${context.repository.main} worktree prune`,
        { path: listed.path },
      );
    if (known === undefined)
      throw refusal(
        "branch-checked-out",
        `Branch ${branch} is checked out in ${listed.path} already, which Reeve did not make; start the session there with --cwd ${listed.path}, or name another branch.`,
        { path: listed.path },
      );
    const users = usersOf(known.path);
    if (users.length > 0)
      throw refusal(
        "worktree-in-use",
        `Branch ${branch} is checked out in ${known.path}, where ${users[0]} works; end that first, or name another branch.`,
        { path: known.path },
      );
    if (request.base !== null && request.request !== known.request)
      throw refusal(
        "branch-exists",
        `Branch ${branch} is there already, so --base ${request.base} does not count; leave it out, or name another branch.`,
      );
    if (known.state !== "making") return true;
    const isMade = await whenMade(tool, known.path, clock);
    if (isMade) return true;
    if (!(await isHollow(tool, known.path)))
      throw refusal(
        "worktree-unfinished",
        `${known.path} was not finished by a git command that was killed, and holds files; look at it, and remove it with: git worktree remove --force --force ${known.path}`,
        { path: known.path },
      );
    const args = ["worktree", "remove", "--force", "--force", "--", known.path];
    const said = await tool.run(known.repository, args);
    if (said.status !== 0) throw gitFailed(args, said);
    return false;
  }

  async function add(context: Context, all: readonly Worktree[]): Promise<MadeWorktree> {
    const { tool, repository, request, branch } = context;
    const { main, common, top } = repository;
    const path = await freePlace(
      tool,
      repository,
      placeOf({ main, repository: common, branch, setting: settings.worktreesDir }),
    );
    const isThere = await tool.isTrue(top, ["show-ref", "--verify", "--quiet", `refs/heads/${branch}`]);
    // Of one that was cut short, or that somebody removed without Reeve.
    const left = all.find((one) => one.path === path);
    if (isThere && request.base !== null && left?.state !== "making")
      throw refusal(
        "branch-exists",
        `Branch ${branch} is there already, so --base ${request.base} does not count; leave it out, or name another branch.`,
      );
    const base = isThere
      ? (left?.base ?? null)
      : await chosenBase(tool, repository, branch, { ref: request.base, isFetched: context.isFetched });
    const planned: Worktree = {
      id: left?.id ?? newWorktreeId(),
      revision: (left?.revision ?? 0) + 1,
      path,
      repository: common,
      main,
      branch,
      isBranchOurs: left?.isBranchOurs ?? !isThere,
      base,
      runtime: request.runtime,
      paths: tool.paths,
      state: "making",
      sessionId: request.sessionId,
      request: request.request,
      createdAt: clock.now(),
      saved: null,
    };
    await store.commit({ changes: [worktreeKind.put(planned)] });
    failpoint("worktree.before-add");
    const words = isThere ? [path, branch] : ["--no-track", "-b", branch, path, base?.commit ?? "HEAD"];
    const args = ["worktree", "add", "--quiet", ...words];
    const said = await tool.run(top, args);
    if (said.status !== 0) {
      await forget(tool, planned, isThere);
      throw gitFailed(args, said);
    }
    failpoint("worktree.after-add");
    return await finish(context, planned, true);
  }

  /** Git may have made the branch before it failed. */
  async function forget(tool: Tool, planned: Worktree, wasThere: boolean): Promise<void> {
    if ((await tool.files.realPath(planned.path)) !== null) return;
    if (!wasThere && planned.base !== null)
      await tool.maybe(planned.repository, ["update-ref", "-d", `refs/heads/${planned.branch}`, planned.base.commit]);
    await record(planned, null);
  }

  async function finish(context: Context, worktree: Worktree, isNew: boolean): Promise<MadeWorktree> {
    const { tool, repository, request, branch } = context;
    const { path, main, base } = worktree;
    const notes = [
      ...context.notes,
      ...(await furnish(tool, {
        main,
        path,
        repository: repository.common,
        links: settings.symlinkDirectories,
        fetch: context.isFetched,
      })),
    ];
    const head = await tool.text(path, ["rev-parse", "--verify", "HEAD^{commit}"]);
    const state = await stateIn(tool, path);
    const about = { worktreeId: worktree.id, path, branch };
    const begun = isNew ? base : null;
    const from = {
      isNew,
      commit: head,
      base: begun?.ref ?? null,
      source: begun?.source ?? null,
      committedAt: begun?.committedAt ?? null,
    };
    const { sessionId, request: key } = request;
    const event: WorktreeEvent = { type: "worktree-made", ...about, ...from };
    const ready = await record(worktree, { state: "ready", sessionId, request: key }, event, request);
    failpoint("worktree.after-commit");
    parts.claim(path);
    return {
      worktree: ready,
      isNew,
      cwd: await placeWithin(tool, path, repository.prefix),
      head,
      freshness: await freshnessOf(tool, path, head),
      fetchedAt: await lastFetchedAt(tool, repository),
      changes: new Set([...state.staged, ...state.modified, ...state.unmerged, ...state.untracked]).size,
      notes,
    };
  }

  return { make };
}

interface Context {
  readonly tool: Tool;
  readonly repository: Repository;
  readonly request: MakingRequest;
  readonly branch: string;
  readonly notes: readonly string[];
  readonly isFetched: boolean;
}

function pathsOf(environment: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(
    ["PATH", "HOME"].flatMap((name) => (name in environment ? [[name, environment[name] ?? ""]] : [])),
  );
}
