/**
 * What a new branch begins from, and how fresh that is. A remote is asked only
 * when somebody wants it, for a bounded time and without questions; if it does
 * not answer, what this repository knows is used, and that is said.
 */
import type { Base } from "../../fleet/worktree.ts";
import { messageOf } from "../../platform/reeve-error.ts";
import { lastWords, refusal, type Repository, type Tool } from "./repository.ts";

export interface BaseRequest {
  /** `--base`. */
  readonly ref: string | null;
  readonly fetch: boolean;
  /** For the network: agents of keys, proxies. */
  readonly environment: Readonly<Record<string, string>>;
}

export interface Freshness {
  /** The branch of the remote that others' work goes to. */
  readonly ref: string;
  /** How many commits it has that the worktree does not. */
  readonly behind: number;
}

/** A remote that does not answer within this keeps nobody waiting. */
const FETCH_MS = 60_000;

/** Null where it worked, else why it did not. */
export async function fetched(
  tool: Tool,
  { top }: Repository,
  environment: Readonly<Record<string, string>>,
): Promise<string | null> {
  const remote = await remoteOf(tool, top);
  if (remote === null) return "the repository has no remote";
  const hasOwn = (await tool.maybe(top, ["config", "core.sshCommand"])) !== null;
  const passed = Object.fromEntries(Object.entries(environment).filter(([name]) => !name.startsWith("GIT_")));
  const quiet = {
    ...passed,
    GIT_TERMINAL_PROMPT: "0",
    GIT_ASKPASS: "false",
    SSH_ASKPASS_REQUIRE: "never",
    LC_ALL: "C",
    ...(hasOwn ? {} : { GIT_SSH_COMMAND: "ssh -oBatchMode=yes -oConnectTimeout=15" }),
  };
  try {
    const said = await tool.run(top, ["fetch", "--quiet", "--no-recurse-submodules", "--no-auto-maintenance", remote], {
      timeoutMs: FETCH_MS,
      environment: quiet,
    });
    return said.status === 0 ? null : lastWords(said.stderr);
  } catch (error) {
    return messageOf(error);
  }
}

/** Of a branch that is new. */
export async function chosenBase(
  tool: Tool,
  repository: Repository,
  branch: string,
  { ref, isFetched }: { readonly ref: string | null; readonly isFetched: boolean },
): Promise<Base> {
  const { top } = repository;
  const remote = await remoteOf(tool, top);
  const same = remote === null ? null : `${remote}/${branch}`;
  const source = isFetched ? "fetched" : "local";
  if (ref !== null) {
    const isRemote =
      remote !== null && (await tool.isTrue(top, ["show-ref", "--verify", "--quiet", `refs/remotes/${ref}`]));
    return await baseAt(tool, top, ref, isRemote ? source : "local");
  }
  // Somebody has pushed this branch already.
  if (same !== null && (await tool.isTrue(top, ["show-ref", "--verify", "--quiet", `refs/remotes/${same}`])))
    return await baseAt(tool, top, same, source);
  const shared = isFetched ? await defaultOf(tool, top) : null;
  if (shared !== null) return await baseAt(tool, top, shared, "fetched");
  if (repository.branch === null)
    throw refusal(
      "detached",
      `No branch is checked out in ${top}; say what the worktree begins from, such as --base HEAD or --base main.`,
    );
  return await baseAt(tool, top, repository.branch, "local");
}

async function baseAt(tool: Tool, top: string, ref: string, source: Base["source"]): Promise<Base> {
  const said = ref.startsWith("-")
    ? null
    : await tool.maybe(top, ["log", "-1", "--format=%H %ct", "--end-of-options", `${ref}^{commit}`, "--"]);
  const [commit, seconds] = said?.split(" ") ?? [];
  if (commit === undefined || commit === "")
    throw refusal("unknown-base", `There is no commit ${ref} in ${top}; give a branch, a tag or a commit with --base.`);
  return { ref, commit, committedAt: Number(seconds) * 1_000, source };
}

/** Null where there is no remote, or none of its branches is known as its own. */
export async function freshnessOf(tool: Tool, top: string, head: string): Promise<Freshness | null> {
  const ref = await defaultOf(tool, top);
  const behind = ref === null ? null : await tool.maybe(top, ["rev-list", "--count", `${head}..refs/remotes/${ref}`]);
  return ref === null || behind === null ? null : { ref, behind: Number(behind) };
}

/** When this repository last heard from a remote; null: never, as far as can be seen. */
export async function lastFetchedAt(tool: Tool, { common }: Repository): Promise<number | null> {
  return (await tool.files.stat(`${common}/FETCH_HEAD`))?.modifiedAt ?? null;
}

/** The branch of the remote that others' work goes to, such as `origin/main`. */
export async function defaultOf(tool: Tool, top: string): Promise<string | null> {
  const remote = await remoteOf(tool, top);
  if (remote === null) return null;
  const head = await tool.maybe(top, ["symbolic-ref", "--quiet", "--short", `refs/remotes/${remote}/HEAD`]);
  for (const ref of [head, `${remote}/main`, `${remote}/master`])
    if (ref !== null && (await tool.isTrue(top, ["show-ref", "--verify", "--quiet", `refs/remotes/${ref}`])))
      return ref;
  return null;
}

async function remoteOf(tool: Tool, top: string): Promise<string | null> {
  const remotes = (await tool.text(top, ["remote"])).split("\n").filter((name) => name !== "");
  return remotes.includes("origin") ? "origin" : (remotes[0] ?? null);
}
