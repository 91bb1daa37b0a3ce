import { answer, answerInWords } from "../answer.ts";
import type { ActionSpec, CliCommand, CliContext, CommandInput } from "../command.ts";
import { oneLine } from "../session-text.ts";
import { absolutePath } from "../working-directory.ts";
import { removedText, worktreeTable } from "../worktree-text.ts";

const ONE = {
  words: "WORKTREE",
  least: 1,
  most: 1,
  needs: "a worktree (reeve worktree list shows them)",
  options: [],
  completion: "session",
} as const satisfies Omit<ActionSpec, "summary">;

const ACTIONS = {
  list: { summary: "show them, and which could be removed", words: "", least: 0, most: 0, options: [] },
  remove: { ...ONE, summary: "remove one whose work is safe elsewhere", options: ["save", "delete-branch"] },
  save: { ...ONE, summary: "save all of it as a commit, and leave it as it is" },
} as const satisfies Readonly<Record<string, ActionSpec>>;
type Action = keyof typeof ACTIONS;

export const worktreeCommand: CliCommand = {
  name: "worktree",
  takesKey: true,
  summary: "list, save and remove the git worktrees that Reeve made for sessions",
  arguments: [
    { name: "action", isOptional: true, choices: Object.keys(ACTIONS) },
    { name: "worktree", isOptional: true },
  ],
  actions: ACTIONS,
  options: [
    { name: "save", summary: "remove: first save what would be lost, as a commit under refs/reeve" },
    { name: "delete-branch", summary: "remove: delete its branch, too, if Reeve made it and it is pushed or merged" },
  ],
  notes: [
    "Without an action it is list. Name a worktree by its session, its branch or its path.",
    "remove keeps a worktree, and says why, unless all of it is safe elsewhere: nothing changed or untracked, every commit pushed or merged (also by a squash merge), no session or process in it. Directories such as node_modules that git ignores go with it; the setting disposable in [git] names them.",
    "save makes one commit of everything in it, untracked files included, and changes nothing in the worktree. Get it back with git checkout -b NAME refs/reeve/SESSION.",
    "Start a session in a worktree with: reeve start AGENT --worktree",
  ],
  examples: [
    { line: "reeve worktree", does: "see which there are, and which could be removed" },
    { line: "reeve worktree remove builder", does: "remove the worktree of a session that has ended" },
    { line: "reeve worktree remove builder --save", does: "the same, and keep what is not committed" },
    { line: "reeve worktree save builder", does: "save its work as a commit, and leave it as it is" },
  ],

  async run(input, context) {
    const [given = "list", worktree] = input.arguments;
    const action = given as Action;
    if (action === "list") return await list(context);
    const reference = asPath(context, worktree ?? "");
    return action === "save" ? await save(context, reference) : await remove(input, context, reference);
  },
};

/** What looks like a path is one; branches have slashes, too, but do not begin with one. */
function asPath(context: CliContext, reference: string): string {
  return /^\.{0,2}\/|^\.{1,2}$/.test(reference) ? absolutePath(context, reference) : reference;
}

async function list(context: CliContext): Promise<number> {
  const listed = await context.client().listWorktrees();
  if (listed.worktrees.length === 0 && !context.isJson) {
    context.output.note("Reeve has made no worktrees. To start a session in one: reeve start AGENT --worktree");
    return 0;
  }
  const table = context.isJson ? "" : await worktreeTable(listed.worktrees, context.output, Date.now());
  answer(context, listed, () => table);
  return 0;
}

async function save(context: CliContext, worktree: string): Promise<number> {
  const saved = await context.client().saveWorktree({ worktree });
  answerInWords(
    context,
    saved,
    () => `Saved ${oneLine(saved.path)} as ${saved.commit.slice(0, 10)}. See it with: git show ${oneLine(saved.ref)}`,
  );
  return 0;
}

async function remove(input: CommandInput, context: CliContext, worktree: string): Promise<number> {
  const removed = await context.client().removeWorktree({
    worktree,
    save: input.flag("save"),
    delete_branch: input.flag("delete-branch"),
  });
  answerInWords(context, removed, () => removedText(removed, worktree));
  return removed.removed ? 0 : 1;
}
