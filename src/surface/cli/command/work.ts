import type { InputOf } from "../../../client/operation-types.ts";
import { answer, answerInWords } from "../answer.ts";
import { calledAs } from "../called-as.ts";
import { usage } from "../usage.ts";
import type { ActionSpec, CliCommand, CliContext, CommandInput } from "../command.ts";
import { oneLine } from "../session-text.ts";
import { givenText } from "../text-input.ts";
import { adviceText } from "../advice-text.ts";
import { addedSentence, changedSentence, workFooter, workTable, workText } from "../work-text.ts";
import { absolutePath } from "../working-directory.ts";

const CHANGES = [
  "built",
  "approve",
  "request-changes",
  "finalise",
  "done",
  "fail",
  "cancel",
  "retry",
  "release",
] as const satisfies readonly InputOf<"changeWork">["change"][];
type Change = (typeof CHANGES)[number];

const STATES = [
  "open",
  "closed",
  "all",
  "pending",
  "in-progress",
  "built",
  "changes-requested",
  "approved",
  "finalised",
  "done",
  "failed",
  "cancelled",
] as const satisfies readonly InputOf<"listWork">["state"][];
const REVIEWS = ["optional", "required", "none"] as const;

const LOOKING = ["state", "search", "session", "limit", "page"];
const WRITING = ["title", "file", "priority", "depends-on", "branch", "cwd", "review", "verify", "retries"];
/** Of the queue they are filters, of an item wishes. */
const BOTH = ["agent", "role"];
const REPORTING = ["commit"];
const RUNNING = ["most-workers", "verify-timeout", "no-reuse", "worktree", "watch", "end-workers"];

const REPORT = {
  words: "ID [TEXT]",
  least: 1,
  most: 2,
  needs: "the id of an item, and a text",
  options: [...REPORTING, "file"],
  completion: "work",
} as const satisfies Omit<ActionSpec, "summary">;
const ITEM_ONLY = { words: "ID", most: 1, needs: "the id of an item" } as const;

const ACTIONS = {
  list: { summary: "show the items", words: "", least: 0, most: 0, options: [...LOOKING, ...BOTH] },
  add: {
    summary: "add an item",
    words: "TITLE [TEXT]",
    least: 1,
    most: 2,
    needs: "a title, and a text",
    options: [...WRITING, ...BOTH].filter((one) => one !== "title"),
  },
  show: { ...REPORT, ...ITEM_ONLY, summary: "show all of an item", options: [] },
  edit: { ...REPORT, summary: "change an item that nobody works on", options: [...WRITING, ...BOTH] },
  next: {
    ...REPORT,
    summary: "tell the one next action, for an item or for the queue",
    words: "[ID]",
    least: 0,
    most: 1,
    options: [],
  },
  run: {
    summary: "have the queue done by workers that it starts",
    words: "",
    least: 0,
    most: 0,
    options: [...RUNNING, "agent", "verify"],
  },
  built: { ...REPORT, summary: "the worker has done it; say what was done" },
  approve: { ...REPORT, summary: "a review accepts it" },
  "request-changes": { ...REPORT, summary: "a review sends it back; say what is to be changed" },
  finalise: { ...REPORT, ...ITEM_ONLY, summary: "it is where it belongs, such as merged", options: REPORTING },
  done: { ...REPORT, summary: "it is over" },
  fail: { ...REPORT, summary: "it cannot be done; say why", options: ["file"] },
  cancel: { ...REPORT, summary: "it is not wanted any more", options: ["file"] },
  retry: { ...REPORT, ...ITEM_ONLY, summary: "once more from the start, after it was closed", options: [] },
  release: { ...REPORT, summary: "the worker gives it back", options: ["file"] },
} as const satisfies Readonly<Record<string, ActionSpec>>;
type Action = keyof typeof ACTIONS;

export const workCommand: CliCommand = {
  name: "work",
  takesKey: true,
  summary: "the queue of work: add items, see them, say what became of them",
  arguments: [
    { name: "action", isOptional: true, choices: Object.keys(ACTIONS) },
    { name: "what", isOptional: true, isRepeated: true },
  ],
  actions: ACTIONS,
  options: [
    { name: "state", value: "STATE", choices: STATES, summary: "list: only these (default open)" },
    { name: "search", value: "TEXT", summary: "list: only with this text in title, body or result" },
    {
      name: "session",
      value: "SESSION",
      completion: "session",
      summary: "list: only what this session works or worked on",
    },
    { name: "limit", value: "N", type: "count", most: 200, summary: "list: at most so many (default 50)" },
    { name: "page", value: "PAGE", summary: "list: go on after an earlier page" },
    {
      name: "agent",
      value: "AGENT",
      summary: "list: only for this agent; add, edit: the agent that must do it; run: for items that name none",
    },
    { name: "role", value: "ROLE", summary: "list: only for this role; add, edit: the role of its worker" },
    { name: "title", value: "TEXT", summary: "edit: another title" },
    { name: "file", value: "FILE", summary: "the text is in this file", completion: "file" },
    {
      name: "priority",
      value: "PRIORITY",
      summary: "add, edit: -1000 to 1000, or high, normal or low; higher goes first",
    },
    {
      name: "depends-on",
      value: "WORK",
      isRepeatable: true,
      completion: "work",
      summary: "add, edit: only when this item is done; edit: in place of those that it has",
    },
    { name: "branch", value: "BRANCH", summary: "add, edit: the git branch that it is done on" },
    {
      name: "cwd",
      value: "DIRECTORY",
      completion: "directory",
      summary: "add, edit: where it is done (default of add: this directory)",
    },
    {
      name: "review",
      value: "REVIEW",
      choices: REVIEWS,
      summary: "add, edit: whether somebody must approve it (default optional)",
    },
    {
      name: "verify",
      value: "COMMAND",
      summary: "add, edit: a shell command that must succeed when it is built; run: for items that have none",
    },
    { name: "retries", value: "N", type: "cursor", summary: "add, edit: how often it is given out again (default 2)" },
    {
      name: "commit",
      value: "COMMIT",
      isRepeatable: true,
      summary: "built, approve, request-changes, finalise, done: its commit",
    },
    {
      name: "most-workers",
      value: "N",
      type: "count",
      most: 1_000,
      summary: "run: at most so many have an item at once (default: most_workers of the settings)",
    },
    {
      name: "verify-timeout",
      value: "SECONDS",
      type: "count",
      summary: "run: how long a verification command may take",
    },
    { name: "no-reuse", summary: "run: start a new worker for each item" },
    { name: "worktree", summary: "run: give each new worker a git worktree of its own" },
    { name: "watch", summary: "run: when nothing is left, wait for new items" },
    { name: "end-workers", summary: "run: when you press Ctrl-C, end its workers after their turns" },
  ],
  notes: [
    "Without an action it is list. Name an item by its id, or by the beginning of the id.",
    "reeve start AGENT --work ID and reeve send SESSION TEXT --work ID give an item to a session. If that session dies or is ended before it reports, the item goes back to the queue, and fails after its last attempt.",
    "add and edit take the text that the worker gets as an argument, with --file, or - for stdin. The other actions take a text, too: what was done, what is to be changed, or why.",
    "edit takes a wish away if you give it an empty value: --agent ''.",
    "run gives items to workers that it starts, with your environment, and takes their last reply as the result. The verification command decides by its exit status whether that is right. It ends when nothing is left that it could do: with 0 if everything is done, otherwise with 1. You can stop it at any time and start it again.",
    "next tells the one next action for an item, or for the queue: which worker to start, whom to wait for, what to read, review or merge. It does nothing itself.",
  ],
  examples: [
    { line: 'reeve work add "Write the parser" --agent claude --priority high', does: "add an item" },
    {
      line: "reeve work add \"Fix the tests\" --file task.md --verify 'npm test'",
      does: "with a long text and a check",
    },
    { line: 'reeve work add "Merge it" --depends-on work-k3v9xw2apq', does: "only when another item is done" },
    { line: "reeve work edit k3v9 --priority low", does: "change it, as long as nobody works on it" },
    { line: "reeve work run --most-workers 3 --verify 'npm test'", does: "have the whole queue done" },
    { line: 'reeve work built k3v9 "The parser reads lines"', does: "report what was done" },
    { line: 'reeve work request-changes k3v9 "Name it better"', does: "send it back" },
    { line: "reeve work next", does: "what to do next about the queue" },
    { line: "reeve work list --state all --search parser", does: "find it again" },
  ],

  async run(input, context) {
    const [given = "list", ...words] = input.arguments;
    const action = given as Action;
    switch (action) {
      case "list":
        return await list(input, context);
      case "add":
        return await add(input, context, words);
      case "show":
        return await show(context, words[0] ?? "");
      case "run": {
        // Nothing else needs it.
        const { runCommand } = await import("../work-run/run-command.ts");
        return await runCommand(input, context);
      }
      case "edit":
        return await edit(input, context, words);
      case "next":
        return await next(context, words[0]);
      default:
        return await change(input, context, action, words);
    }
  },
};

async function list(input: CommandInput, context: CliContext): Promise<number> {
  const text = (name: string) => (input.text(name) === undefined ? {} : { [name]: input.text(name) });
  const state = STATES.find((known) => known === input.text("state"));
  const limit = input.number("limit");
  const listed = await context.client().listWork({
    ...text("search"),
    ...text("session"),
    ...text("agent"),
    ...text("role"),
    ...text("page"),
    ...(state === undefined ? {} : { state }),
    ...(limit === undefined ? {} : { limit }),
  });
  if (listed.items.length === 0 && listed.next_page === null && !context.isJson) {
    const others = listed.open === 1 ? "1 item is open." : `${listed.open} items are open.`;
    context.output.note(
      listed.open === 0 && state === undefined ? "The queue is empty." : `No work like that; ${others}`,
    );
    return 0;
  }
  const table = context.isJson ? "" : await workTable(listed.items, context.output, Date.now());
  answer(context, listed, () => table);
  for (const line of context.isJson ? [] : workFooter(listed)) context.output.note(line);
  return 0;
}

async function add(input: CommandInput, context: CliContext, [title = "", text]: readonly string[]): Promise<number> {
  const body = givenText(input, context, text);
  const wishes = wishesOf(input, context);
  const added = await context.client().addWork({
    title,
    cwd: context.cwd(),
    ...(body === null ? {} : { body }),
    ...withoutNull(wishes),
  });
  const reeve = calledAs(context.program, context.environment, context.cwd());
  answerInWords(context, added, () => addedSentence(added, reeve));
  return 0;
}

async function edit(input: CommandInput, context: CliContext, [work = "", text]: readonly string[]): Promise<number> {
  const body = givenText(input, context, text);
  const title = input.text("title");
  const edited = await context.client().editWork({
    work,
    ...(title === undefined ? {} : { title }),
    ...(body === null ? {} : { body }),
    ...wishesOf(input, context),
  });
  answerInWords(context, edited, () => `Changed ${edited.work_id}: ${oneLine(edited.title)}.`);
  return 0;
}

async function show(context: CliContext, work: string): Promise<number> {
  const whole = await context.client().getWork({ work });
  answer(context, whole, () => workText(whole, context.output, Date.now()));
  return 0;
}

async function next(context: CliContext, work: string | undefined): Promise<number> {
  const environment = { ...context.environment };
  const advice = await context.client().nextWork({ environment, ...(work === undefined ? {} : { work }) });
  answer(context, advice, () => adviceText(advice));
  return 0;
}

async function change(
  input: CommandInput,
  context: CliContext,
  verb: Change,
  [work = "", said]: readonly string[],
): Promise<number> {
  const text = givenText(input, context, said);
  if (text === null && (verb === "fail" || verb === "request-changes"))
    throw usage(
      "missing-argument",
      verb === "fail"
        ? "Say why it failed: reeve work fail ID TEXT."
        : "Say what is to be changed: reeve work request-changes ID TEXT.",
    );
  const changed = await context.client().changeWork({
    work,
    change: verb,
    ...(text === null ? {} : { text }),
    ...(input.flag("commit") ? { commits: [...input.texts("commit")] } : {}),
  });
  answerInWords(context, changed, () => changedSentence(changed));
  return 0;
}

type Wishes = Omit<InputOf<"editWork">, "work" | "title" | "body">;

/** What was asked of the item; an empty value takes a wish away. */
function wishesOf(input: CommandInput, context: CliContext): Wishes {
  const wish = (name: "agent" | "role" | "branch") => {
    const value = input.text(name);
    return value === undefined ? {} : { [name]: value === "" ? null : value };
  };
  const [priority, cwd, verify, retries] = [
    input.text("priority"),
    input.text("cwd"),
    input.text("verify"),
    input.number("retries"),
  ];
  const review = REVIEWS.find((known) => known === input.text("review"));
  return {
    ...wish("agent"),
    ...wish("role"),
    ...wish("branch"),
    ...(priority === undefined ? {} : { priority: priorityOf(priority) }),
    ...(input.flag("depends-on") ? { dependencies: input.texts("depends-on").filter((id) => id !== "") } : {}),
    ...(cwd === undefined ? {} : { cwd: absolutePath(context, cwd) }),
    ...(verify === undefined ? {} : { verify: verify === "" ? null : ["sh", "-c", verify] }),
    ...(review === undefined ? {} : { review }),
    ...(retries === undefined ? {} : { retry_limit: retries }),
  };
}

function priorityOf(value: string): NonNullable<Wishes["priority"]> {
  if (value === "high" || value === "normal" || value === "low") return value;
  if (/^[+-]?\d{1,4}$/.test(value)) return Number(value);
  throw usage(
    "bad-value",
    `--priority takes a whole number from -1000 to 1000, or high, normal or low, not "${oneLine(value)}".`,
  );
}

/** Of a new item nothing can be taken away. */
function withoutNull(wishes: Wishes): Omit<InputOf<"addWork">, "title"> {
  return Object.fromEntries(Object.entries(wishes).filter(([, value]) => value !== null));
}
