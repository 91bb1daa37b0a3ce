/** Whether the sessions of a manifest can have the branches and checkouts that it names. Nothing is changed. */
import { claimOf, checkoutTaken, rivalOf, worksIn } from "../fleet/checkout-claim.ts";
import type { ManifestSession, Mistake } from "../fleet/manifest.ts";
import { ReeveError } from "../platform/reeve-error.ts";
import type { SessionFiles } from "../runtime/session-files.ts";
import { isEnded, type Launch } from "../session/session.ts";
import { findCheckout } from "../supervisor/launch/checkout-files.ts";
import { requireBranchName } from "../supervisor/worktree/place.ts";
import { repositoryAt, toolIn, worktreesOf } from "../supervisor/worktree/repository.ts";
import type { OperationContext } from "./contract.ts";
import type { SessionCheck } from "./manifest-check.ts";
import { checkedCheckout } from "./start-branch.ts";

export interface SessionCheckout {
  /** What it has for itself: a directory, or a branch of a repository. */
  readonly place: string;
  readonly isShared: boolean;
  /** Of a worktree whose branch is there: what it began from says nothing any more. */
  readonly isBranchThere: boolean;
}

export async function checkCheckout(
  context: OperationContext,
  check: SessionCheck & { readonly launch: Launch },
  files: SessionFiles,
): Promise<SessionCheckout> {
  return check.start.worktree
    ? await checkWorktree(context, check, files)
    : await checkDirectory(context, check, files);
}

async function checkDirectory(
  context: OperationContext,
  { session, start, step, launch, rivals }: SessionCheck & { readonly launch: Launch },
  files: SessionFiles,
): Promise<SessionCheckout> {
  const { supervisor } = context;
  if ((await findCheckout(files, start.cwd)) === null)
    throw refusal("no-checkout", `${start.cwd} is not in a git checkout, so it has no branch; give another workspace.`);
  const { root = null } = await checkedCheckout(context, files, launch, start);
  const isShared = start.allow_shared_checkout || supervisor.settings.git.sharedCheckouts;
  if (root !== null && !isShared) {
    const claim = { id: step.session?.id ?? "", name: session.id, branch: start.branch ?? null };
    const rival = rivalOf(claim, rivals.filter((other) => worksIn(other, root)).map(claimOf));
    if (rival !== undefined)
      throw checkoutTaken(root, claim, rival, "use worktree = true, or allow_shared_checkout = true");
  }
  return { place: root ?? start.cwd, isShared, isBranchThere: true };
}

async function checkWorktree(
  { supervisor, store, clock }: OperationContext,
  { start, step, launch }: SessionCheck & { readonly launch: Launch },
  files: SessionFiles,
): Promise<SessionCheckout> {
  const { branch = "", base, cwd } = start;
  const tool = await toolIn(files, cwd, launch.paths, clock);
  const repository = await repositoryAt(tool, cwd);
  await requireBranchName(tool, repository, branch);
  const listed = (await worktreesOf(tool, repository.top)).find((one) => one.branch === branch);
  if (listed !== undefined) {
    const known = (await supervisor.worktrees.records.list()).find(({ path }) => path === listed.path);
    if (known === undefined)
      throw refusal(
        "branch-checked-out",
        `Branch ${branch} is checked out in ${listed.path}, which Reeve did not make; name another branch, or give that directory as workspace without worktree.`,
      );
    const user = store.registry
      .all()
      .find((other) => other.checkout.worktree === listed.path && !isEnded(other) && other.id !== step.session?.id);
    if (user !== undefined)
      throw refusal(
        "worktree-in-use",
        `Branch ${branch} is checked out in ${listed.path}, where session ${user.identity.name} works; end that first, or name another branch.`,
      );
  }
  const heads = ["for-each-ref", "--format=%(refname:lstrip=2)", "refs/heads"];
  const branches = (await tool.text(repository.top, heads)).split("\n");
  const isThere = branches.includes(branch);
  // Git keeps them in directories.
  const inTheWay = branches.find((other) => branch.startsWith(`${other}/`) || other.startsWith(`${branch}/`));
  if (inTheWay !== undefined)
    throw refusal(
      "branch-in-the-way",
      `Git cannot have both ${branch} and ${inTheWay}, which is there; name another branch.`,
    );
  if (!isThere && base !== undefined && start.fetch !== true) {
    const isKnown = await tool.isTrue(repository.top, ["rev-parse", "--verify", "--quiet", `${base}^{commit}`]);
    if (!isKnown)
      throw refusal(
        "unknown-base",
        `There is no branch, tag or commit ${base} in ${repository.top}; check the spelling.`,
      );
  }
  return { place: `${repository.common} ${branch}`, isShared: false, isBranchThere: isThere };
}

/** Of two sessions in one place each must say that it shares it: which comes first is not known. */
export function sharedPlaces(
  sessions: readonly { readonly session: ManifestSession; readonly checkout: SessionCheckout | null }[],
): readonly Mistake[] {
  return sessions.flatMap(({ session, checkout }) => {
    if (checkout === null || checkout.isShared) return [];
    const other = sessions.find((one) => one.session !== session && one.checkout?.place === checkout.place);
    if (other === undefined) return [];
    const message = session.spec.worktree
      ? `Sessions ${session.id} and ${other.session.id} want a worktree of the same branch; give each a branch of its own.`
      : `Session ${session.id} works in the same checkout as ${other.session.id}; use worktree = true, or allow_shared_checkout = true for both.`;
    return [{ ...session.at(session.spec.worktree ? "branch" : "workspace"), code: "checkout-shared", message }];
  });
}

function refusal(code: string, message: string): ReeveError {
  return new ReeveError({ code, kind: "conflict", message });
}
