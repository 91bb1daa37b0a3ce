import type { InputOf, OutputOf } from "../../../client/operation-types.ts";
import { ReeveError } from "../../../platform/reeve-error.ts";
import { SESSION_ID_PATTERN } from "../../../session/session-id.ts";
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
  summary: "start a session: an agent at work in a terminal of its own",
  arguments: [
    { name: "agent", completion: AGENTS },
    { name: "prompt", isOptional: true },
  ],
  options: [
    { name: "file", value: "FILE", summary: "take the prompt from this file", completion: "file" },
    {
      name: "resume",
      value: "ID",
      summary: "go on with this conversation of the agent, by the agent's own id of it, instead of beginning one",
    },
    { name: "name", value: "NAME", summary: "what to call it; otherwise <agent>-<number>" },
    { name: "role", value: "ROLE", summary: "what it is for; sessions are filed by role" },
    { name: "cwd", value: "DIRECTORY", summary: "where it works; otherwise here", completion: "directory" },
    { name: "branch", value: "BRANCH", summary: "the git branch it must be on; refused when it is not" },
    { name: "runtime", value: "RUNTIME", summary: "where it lives; tmux unless said otherwise", completion: ["tmux"] },
    {
      name: "restart",
      value: "POLICY",
      summary: "when to start it again by itself",
      choices: ["never", "on-failure", "always"],
    },
    { name: "env", value: "NAME=VALUE", summary: "a variable for its environment", isRepeatable: true },
    {
      name: "env-file",
      value: "FILE",
      summary: "a file of NAME=VALUE lines; read again at every start",
      completion: "file",
    },
    { name: "model", value: "MODEL", summary: "the model the agent is to use" },
    {
      name: "wait",
      summary: "wait for the end of its turn and print the reply; exits with 0 only if the turn completed",
    },
    WAIT_TIMEOUT,
  ],
  rest: "arguments...",
  notes: [
    "The prompt - is read from stdin; one line end at its end is left out.",
    "What follows -- goes to the agent as it is. The agent `command` runs any program: put it after --.",
    "Values given with --env or --env-file are not written to disk, also not where the prompt, a message or the output repeats them (from 4 characters on; plain words, paths, and values named like PORT or USER are not hidden there). What follows -- is recorded as it is, and anybody on this machine can see it in ps: do not put secrets there.",
  ],
  examples: [
    { line: 'reeve start claude "fix the failing test"', does: "a coding agent; reeve doctor says which are there" },
    {
      line: "reeve start claude --file task.md",
      does: "a long prompt from a file; or: git diff | reeve start claude -",
    },
    {
      line: "reeve start codex --resume 0199f2c4-7a51-7000-8000-2f1c9d2e4b11",
      does: "take a conversation that you began yourself under care",
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
    answerInWords(context, started, () => `Started ${name} (${id}). See it with: ${reeve} attach ${name}`);
    return 0;
  }
  context.output.note(`Started ${name} (${id}); waiting for it.`);
  const waited = await client.waitForSession({ session: id, since: cursor, ...timeout });
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
  };
  return {
    agent,
    args: [...input.rest],
    cwd: absolutePath(context, input.text("cwd") ?? "."),
    environment: callerEnvironment(context),
    env: Object.fromEntries(input.texts("env").map(variable)),
    ...presentOnly(optional),
    // Here, not in the session's directory: that is where the shell completed it.
    ...(envFile === undefined ? {} : { env_file: absolutePath(context, envFile) }),
    // Called from inside a session: that one is its parent.
    ...(parent !== undefined && SESSION_ID_PATTERN.test(parent) ? { parent } : {}),
  };
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
