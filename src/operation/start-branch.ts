/**
 * Checks the branch of the checkout that a session is to be started in: is it
 * the one that the start declares, and does another session work there? What is
 * right is read from git's files; git itself is only asked what to say of what
 * is wrong.
 */
import { nearestWord } from "../platform/nearest-word.ts";
import { ReeveError } from "../platform/reeve-error.ts";
import { checkoutTaken, type Claim, claimOf, rivalOf, worksIn } from "../fleet/checkout-claim.ts";
import type { SessionFiles } from "../runtime/session-files.ts";
import type { BranchPolicy } from "../session/branch-policy.ts";
import { BRANCH_MISMATCH, type Checkout, type SeenHead, shortCommit } from "../session/checkout.ts";
import type { Launch } from "../session/session.ts";
import type { Registry } from "../store/contract.ts";
import { findCheckout, readHead } from "../supervisor/launch/checkout-files.ts";
import { findGit, type Git } from "../supervisor/launch/git.ts";
import type { OperationContext } from "./contract.ts";

export interface CheckoutRequest {
  readonly branch?: string | undefined;
  readonly branch_policy?: BranchPolicy | undefined;
  readonly allow_shared_checkout: boolean;
}

/** What the record says of the checkout; throws what is wrong with the branch. */
export async function checkedCheckout(
  { supervisor, clock }: OperationContext,
  files: SessionFiles,
  launch: Launch,
  input: CheckoutRequest,
): Promise<Partial<Checkout>> {
  const { branchPolicy, sharedCheckouts } = supervisor.settings.git;
  const { branch, branch_policy: policy = branchPolicy } = input;
  if (branch === undefined && input.branch_policy !== undefined)
    throw problem("missing-branch", "usage", "--branch-policy says what happens to a declared branch; add --branch.");
  const found = await findCheckout(files, launch.cwd).catch((error: unknown) => {
    // Who declares nothing is not kept from starting by what stands where git has its files.
    if (branch === undefined) return null;
    throw error;
  });
  const chosen = { policy, isShared: input.allow_shared_checkout || sharedCheckouts };
  if (found === null || found === "bare") {
    if (branch !== undefined) throw noCheckout(launch.cwd, branch, found === "bare");
    return chosen;
  }
  const { root, gitDir } = found;
  const head = await readHead(files, gitDir);
  if (branch !== undefined && head?.branch !== branch)
    throw await notOn(branch, root, head, await findGit(files, root, launch.paths));
  return { ...chosen, root, head: head === null ? null : { ...head, at: clock.now() } };
}

/** Starts that are not recorded yet have their checkout already. */
const underWay = new WeakMap<Registry, Map<Claim, string>>();

/** Of two that want the same checkout at the same moment one gets it. */
export async function claimingCheckout<T>(
  { store }: OperationContext,
  { root, isShared }: Partial<Checkout>,
  claim: Claim,
  start: () => Promise<T>,
): Promise<T> {
  if (root === undefined || root === null) return await start();
  const starting = underWay.get(store.registry) ?? new Map<Claim, string>();
  underWay.set(store.registry, starting);
  const recorded = store.registry.living().filter((session) => worksIn(session, root));
  const others = [...starting].filter(([, where]) => where === root).map(([other]) => other);
  const rival = isShared === true ? undefined : rivalOf(claim, [...recorded.map(claimOf), ...others]);
  if (rival !== undefined)
    throw checkoutTaken(root, claim, rival, "use --worktree for a checkout of its own, or --allow-shared-checkout");
  starting.set(claim, root);
  try {
    return await start();
  } finally {
    starting.delete(claim);
  }
}

function noCheckout(cwd: string, branch: string, isBare: boolean): ReeveError {
  return isBare
    ? problem(
        "bare-repository",
        "conflict",
        `${cwd} is a bare git repository, in which no branch is checked out; give a checkout of it with --cwd.`,
      )
    : mismatch(
        `${cwd} is not in a git checkout, so it is not on branch ${branch}; give another directory with --cwd or leave --branch out.`,
      );
}

async function notOn(branch: string, root: string, head: SeenHead | null, git: Git | null): Promise<ReeveError> {
  const branches = await linesOf(git, root, ["for-each-ref", "--format=%(refname:short)", "refs/heads"]);
  if (branches !== null && !branches.includes(branch)) return unknownBranch(branch, root, branches);
  const elsewhere = placeOf(branch, (await linesOf(git, root, ["worktree", "list", "--porcelain"])) ?? []);
  if (elsewhere !== null)
    return problem(
      "branch-elsewhere",
      "conflict",
      `Branch ${branch} is checked out in ${elsewhere}, not in ${root}; start the session there with --cwd.`,
    );
  if (head === null)
    return mismatch(`Reeve cannot read which branch ${root} is on, so it cannot watch it; leave --branch out.`);
  if (head.underWay !== null)
    return mismatch(`In ${root} ${head.underWay} is under way; finish or abort it, then start the session.`);
  const found =
    head.branch === null ? `on commit ${shortCommit(head.commit ?? "")} and on no branch` : `on branch ${head.branch}`;
  return mismatch(`${root} is ${found}, not on ${branch}; check out ${branch} there or change --branch.`);
}

function unknownBranch(branch: string, root: string, branches: readonly string[]): ReeveError {
  const near = nearestWord(branch, branches);
  const advice = near === null ? "create it, or give one that git branch lists." : `did you mean ${near}?`;
  return problem("unknown-branch", "usage", `There is no branch ${branch} in ${root}; ${advice}`);
}

/** In which worktree it is checked out, by what `git worktree list --porcelain` says. */
function placeOf(branch: string, lines: readonly string[]): string | null {
  const at = lines.indexOf(`branch refs/heads/${branch}`);
  const place = lines.slice(0, Math.max(0, at)).findLast((line) => line.startsWith("worktree "));
  return place?.slice("worktree ".length) ?? null;
}

/** Null: git cannot say. */
async function linesOf(git: Git | null, root: string, args: readonly string[]): Promise<readonly string[] | null> {
  const ran = await git?.run(root, args).catch(() => null);
  return ran === null || ran === undefined || ran.status !== 0 ? null : ran.stdout.split("\n");
}

function mismatch(message: string): ReeveError {
  return problem(BRANCH_MISMATCH, "conflict", message);
}

function problem(code: string, kind: "usage" | "conflict", message: string): ReeveError {
  return new ReeveError({ code, kind, message });
}
