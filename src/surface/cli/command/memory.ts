import { isatty } from "node:tty";
import { answer, answerInWords } from "../answer.ts";
import { usage } from "../usage.ts";
import type { ActionSpec, CliCommand, CliContext, CommandInput } from "../command.ts";
import { memoriesText } from "../memory-text.ts";
import { oneLine } from "../session-text.ts";
import { readStandardInput } from "../standard-input.ts";
import { givenText, readText } from "../text-input.ts";
import { absolutePath } from "../working-directory.ts";

const KINDS = ["prompt", "thought", "response", "note"] as const;

const ACTIONS = {
  list: {
    summary: "show what is remembered, or all of one memory",
    words: "[ID]",
    least: 0,
    most: 1,
    options: ["kind", "tag", "role", "cwd", "all", "limit", "page"],
  },
  add: {
    summary: "remember something",
    words: "[TEXT]",
    least: 0,
    most: 1,
    options: ["kind", "tag", "role", "every-role", "cwd", "session", "turn", "commit", "file"],
  },
  search: {
    summary: "find it again",
    words: "WORD...",
    least: 1,
    most: Infinity,
    needs: "words to look for",
    options: ["kind", "tag", "role", "cwd", "all", "limit"],
  },
  forget: {
    summary: "remove it for good",
    words: "ID...",
    least: 1,
    most: Infinity,
    needs: "the id of a memory",
    options: [],
  },
} as const satisfies Readonly<Record<string, ActionSpec>>;
type Action = keyof typeof ACTIONS;

export const memoryCommand: CliCommand = {
  name: "memory",
  takesKey: true,
  summary: "remember something for a project, and find it again",
  arguments: [
    { name: "action", isOptional: true, choices: Object.keys(ACTIONS) },
    { name: "what", isOptional: true, isRepeated: true },
  ],
  actions: ACTIONS,
  options: [
    {
      name: "kind",
      value: "KIND",
      choices: KINDS,
      summary: "search, list: only of this kind; add: what it is (default note)",
    },
    { name: "tag", value: "TAG", isRepeatable: true, summary: "add: a word to find it by; search, list: only with it" },
    { name: "role", value: "ROLE", summary: "add: for this role only; search, list: of this role and of every role" },
    { name: "every-role", summary: "add: inside a session, for every role of the project" },
    { name: "cwd", value: "DIR", summary: "a directory of the project (default: this one)", completion: "file" },
    { name: "all", summary: "search, list: in all projects (outside of sessions only)" },
    { name: "session", value: "SESSION", summary: "add: the session it is about", completion: "session" },
    { name: "turn", value: "N", type: "count", summary: "add: the turn of that session" },
    { name: "commit", value: "COMMIT", summary: "add: the git commit it is about" },
    { name: "file", value: "FILE", summary: "add: the text is in this file", completion: "file" },
    { name: "limit", value: "N", type: "count", most: 100, summary: "search, list: at most so many" },
    { name: "page", value: "PAGE", summary: "list: go on after an earlier page" },
  ],
  notes: [
    "Without an action it is list: what is remembered for this project, newest first. list with the id of a memory shows all of it.",
    'search: all words must be there, in any order and any case. "…" is a phrase, and word* finds words that begin so.',
    "A project is a git repository with all its worktrees, or a directory outside of one. Inside a session you reach its own project, for its own role and for every role; outside you are the operator and reach all.",
    "A text has at most 64 KB. Secrets are taken out before it is written. A memory is kept until somebody forgets it.",
  ],
  examples: [
    { line: 'reeve memory add "The parser tests need TZ=UTC" --tag tests', does: "remember it for this project" },
    { line: "reeve memory search 'time zone'", does: "find it again" },
    { line: "reeve memory", does: "see what is remembered here" },
    { line: "reeve memory forget memory-k3v9xw2apq", does: "remove it for good" },
  ],

  async run(input, context) {
    const [given = "list", ...words] = input.arguments;
    const action = given as Action;
    switch (action) {
      case "add":
        return await add(input, context, words[0]);
      case "search":
        return await search(input, context, words.join(" "));
      case "list":
        return await list(input, context, words[0]);
      case "forget":
        return await forget(context, words);
    }
  },
};

async function add(input: CommandInput, context: CliContext, argument: string | undefined): Promise<number> {
  const text = givenText(input, context, argument);
  if (text === null && isatty(0))
    throw usage("missing-argument", "Say what to remember: give it as an argument, with --file, or pipe it in.");
  const body = text ?? readText(readStandardInput, "stdin", false);
  if (body === "") throw usage("bad-request", "There is nothing to remember; give some text.");
  const kind = KINDS.find((known) => known === input.text("kind"));
  const [role, session, commit] = ["role", "session", "commit"].map((name) => input.text(name));
  const turn = input.number("turn");
  const memory = await context.client().addMemory({
    text: body,
    cwd: projectDirectory(input, context),
    tags: [...input.texts("tag")],
    ...(kind === undefined ? {} : { kind }),
    ...(input.flag("every-role") ? { scope: "project" } : {}),
    ...(role === undefined ? {} : { role }),
    ...(session === undefined ? {} : { session }),
    ...(turn === undefined ? {} : { turn }),
    ...(commit === undefined ? {} : { commit }),
  });
  answerInWords(context, memory, () => `Remembered as ${memory.memory_id} for ${oneLine(memory.project)}.`);
  return 0;
}

async function search(input: CommandInput, context: CliContext, text: string): Promise<number> {
  const found = await context.client().searchMemory({ text, ...narrowed(input, context) });
  answer(context, found, () => memoriesText(found.found, context.output, { now: Date.now(), isWhole: false }));
  if (context.isJson) return 0;
  if (found.found.length === 0) context.output.note("Nothing was found.");
  if (found.note !== null) context.output.note(found.note);
  return 0;
}

async function list(input: CommandInput, context: CliContext, memory: string | undefined): Promise<number> {
  const page = input.text("page");
  const listed = await context.client().listMemories({
    ...narrowed(input, context),
    ...(memory === undefined ? {} : { memory }),
    ...(page === undefined ? {} : { page }),
  });
  const isWhole = memory !== undefined;
  answer(context, listed, () => memoriesText(listed.memories, context.output, { now: Date.now(), isWhole }));
  if (context.isJson) return 0;
  if (listed.memories.length === 0) context.output.note("Nothing is remembered here.");
  if (listed.next_page !== null)
    context.output.note(`There is more: repeat the command with --page ${listed.next_page}`);
  return 0;
}

async function forget(context: CliContext, ids: readonly string[]): Promise<number> {
  const client = context.client();
  const forgotten: string[] = [];
  for (const memory of ids) forgotten.push((await client.forgetMemory({ memory })).memory_id);
  const [only] = forgotten;
  answerInWords(context, forgotten.length === 1 ? { memory_id: only } : { memory_ids: forgotten }, () =>
    forgotten.map((id) => `Forgot ${id}.`).join("\n"),
  );
  return 0;
}

function narrowed(input: CommandInput, context: CliContext) {
  const [role, [tag, second]] = [input.text("role"), input.texts("tag")];
  if (second !== undefined) throw usage("bad-request", "Give one --tag to look for.");
  const kind = KINDS.find((known) => known === input.text("kind"));
  const limit = input.number("limit");
  return {
    ...(input.flag("all") ? {} : { cwd: projectDirectory(input, context) }),
    ...(role === undefined ? {} : { role }),
    ...(tag === undefined ? {} : { tag }),
    ...(kind === undefined ? {} : { kind }),
    ...(limit === undefined ? {} : { limit }),
  };
}

function projectDirectory(input: CommandInput, context: CliContext): string {
  const given = input.text("cwd");
  return given === undefined ? context.cwd() : absolutePath(context, given);
}
