import type { InputOf, OutputOf } from "../../../client/operation-types.ts";
import { ReeveError } from "../../../platform/reeve-error.ts";
import { SESSION_ID_PATTERN } from "../../../session/session-id.ts";
import { WAKE_REASONS } from "../../../session/wake.ts";
import { answerInWords } from "../answer.ts";
import { calledAs } from "../called-as.ts";
import { callerEnvironment } from "../caller-environment.ts";
import { usage } from "../command-line.ts";
import type { CliContext, CliCommand, CommandInput } from "../command.ts";
import { oneLine } from "../session-text.ts";
import { givenText } from "../text-input.ts";
import { absolutePath } from "../working-directory.ts";
import { reportTurn, WAIT_TIMEOUT, waitTimeout } from "../report-turn.ts";

/** For the tab key only; more may be declared in config.toml, and the daemon knows them all. */
const AGENTS = ["claude", "codex", "gemini", "command", "practice"] as const;

export const startCommand: CliCommand = {
  name: "start",
  takesKey: true,
  summary: "start a session: an agent in a terminal of its own",
  arguments: [
    { name: "agent", completion: AGENTS },
    { name: "prompt", isOptional: true },
  ],
  options: [
    { name: "file", value: "FILE", summary: "take the prompt from this file", completion: "file" },
    {
      name: "resume",
      value: "ID",
      summary: "continue this conversation (the agent's own id) instead of beginning a new one",
    },
    { name: "name", value: "NAME", summary: "its name (default <agent>-<number>)" },
    { name: "role", value: "ROLE", summary: "what it is for, in one word; list and wait can select by role" },
    {
      name: "cwd",
      value: "DIRECTORY",
      summary: "the directory it works in (default: this one)",
      completion: "directory",
    },
    {
      name: "branch",
      value: "BRANCH",
      summary: "the git branch the directory must be on; otherwise the start is refused",
    },
    { name: "runtime", value: "RUNTIME", summary: "where it runs (default tmux)", completion: ["tmux"] },
    {
      name: "restart",
      value: "POLICY",
      summary: "when Reeve starts it again after its process ended",
      choices: ["never", "on-failure", "always"],
    },
    { name: "env", value: "NAME=VALUE", summary: "a variable to add to its environment", isRepeatable: true },
    {
      name: "env-file",
      value: "FILE",
      summary: "a file with NAME=VALUE lines to add to its environment; read again at every start",
      completion: "file",
    },
    {
      name: "notify",
      value: "REASON",
      summary: "wake the session that starts it only for this (default: for everything that ends a wait)",
      choices: WAKE_REASONS,
      isRepeatable: true,
    },
    { name: "no-wakes", summary: "do not wake the session that starts it" },
    { name: "no-mcp", summary: "do not give the agent Reeve's MCP server" },
    { name: "model", value: "MODEL", summary: "the model that the agent uses" },
    {
      name: "wait",
      summary: "wait for the end of its turn and print the reply; exits with 0 only if the turn completed",
    },
    WAIT_TIMEOUT,
  ],
  rest: "arguments...",
  notes: [
    "Give - as the prompt to read it from stdin; a line end at its end is left out.",
    "What follows -- goes to the agent unchanged. The agent `command` runs any program: put it after --.",
    "Reeve does not write values given with --env or --env-file to disk. It also hides them where the prompt, a message or the output repeats them, except values under 4 characters, plain words, paths, and variables named like PORT or USER. Do not put secrets after --: Reeve records those arguments, and anybody on this machine can see them in ps.",
  ],
  examples: [
    {
      line: 'reeve start claude "fix the failing test"',
      does: "start a coding agent; reeve doctor shows which are installed",
    },
    {
      line: "reeve start claude --file task.md",
      does: "a long prompt from a file; or: git diff | reeve start claude -",
    },
    {
      line: "reeve start codex --resume 0199f2c4-7a51-7000-8000-2f1c9d2e4b11",
      does: "continue a conversation that you began outside Reeve",
    },
    { line: 'reeve start practice "tidy up"', does: "a practice session, without a model behind it" },
    { line: "reeve start command --name dev -- npm run dev", does: "any program as a session" },
    { line: 'reeve start claude "run the tests" --wait && deploy', does: "deploy only if its turn completed" },
  ],

  run: (input, context) => start(input, context, input.text("resume")),
};

/** `resume` is the agent's own id of a conversation to go on with. */
export async function start(input: CommandInput, context: CliContext, resume: string | undefined): Promise<number> {
  const client = context.client();
  const request = { ...requestOf(input, context), ...(resume === undefined ? {} : { resume }) };
  const timeout = waitTimeout(input, "start");
  const started = await client.startSession(request);
  const { session_id: id, name, cursor } = started;
  if (started.state === "error") throw notStarted(started);
  if (!input.flag("wait")) {
    // In a checkout `reeve` may not be on the path.
    const reeve = calledAs(context.program, context.environment, context.cwd());
    const woken = started.notifications.armed.length === 0 ? "" : `\n${oneLine(started.notifications.why)}`;
    answerInWords(context, started, () => `Started ${name} (${id}). See it with: ${reeve} attach ${name}${woken}`);
    return 0;
  }
  context.output.note(`Started ${name} (${id}); waiting for it.`);
  const waited = await client.waitForSession({ session: id, reply: false, since: cursor, ...timeout });
  const prompt = { text: request.prompt ?? null, since: started.created_at };
  return await reportTurn(context, client, waited, { prompt, fields: {} });
}

/** It is recorded, and did not come up. */
function notStarted({ name, reason, session_id }: OutputOf<"startSession">): ReeveError {
  return new ReeveError({
    code: "not-started",
    kind: "conflict",
    message: `${oneLine(name)} was not started: ${oneLine(reason)}`,
    details: { session_id },
  });
}

function requestOf(input: CommandInput, context: CliContext): InputOf<"startSession"> {
  const { environment } = context;
  const [agent = "", words] = input.arguments;
  const prompt = givenText(input, context, words) ?? undefined;
  const envFile = input.text("env-file");
  const parent = environment["REEVE_SESSION_ID"];
  const optional = {
    prompt,
    name: input.text("name"),
    role: input.text("role"),
    branch: input.text("branch"),
    runtime: input.text("runtime"),
    restart: restartPolicy(input.text("restart")),
    model: input.text("model"),
    notify: notifyOf(input),
  };
  return {
    agent,
    args: [...input.rest],
    cwd: absolutePath(context, input.text("cwd") ?? "."),
    environment: callerEnvironment(context),
    env: Object.fromEntries(input.texts("env").map(variable)),
    ...presentOnly(optional),
    ...(input.flag("no-mcp") ? { mcp: false } : {}),
    // Here, not in the session's directory: that is where the shell completed it.
    ...(envFile === undefined ? {} : { env_file: absolutePath(context, envFile) }),
    // Called from inside a session: that one is its parent.
    ...(parent !== undefined && SESSION_ID_PATTERN.test(parent) ? { parent } : {}),
  };
}

/** Only a session is woken, so for the operator there is nothing to switch off. */
function notifyOf(input: CommandInput): InputOf<"startSession">["notify"] {
  const given = input.texts("notify");
  if (input.flag("no-wakes")) {
    if (given.length > 0) throw usage("bad-value", "--notify and --no-wakes exclude each other; leave one out.");
    return [];
  }
  return given.length === 0 ? undefined : WAKE_REASONS.filter((reason) => given.includes(reason));
}

function variable(text: string): [string, string] {
  const equals = text.indexOf("=");
  if (equals > 0) return [text.slice(0, equals), text.slice(equals + 1)];
  throw usage("bad-value", `--env takes NAME=VALUE, not "${oneLine(text)}".`);
}

function restartPolicy(value: string | undefined): "never" | "on-failure" | "always" | undefined {
  return value === "never" || value === "on-failure" || value === "always" ? value : undefined;
}

function presentOnly<T extends object>(fields: T): { [Key in keyof T]: Exclude<T[Key], undefined> } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as {
    [Key in keyof T]: Exclude<T[Key], undefined>;
  };
}
