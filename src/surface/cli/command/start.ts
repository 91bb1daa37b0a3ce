import type { InputOf, OutputOf } from "../../../client/operation-types.ts";
import { ReeveError } from "../../../platform/reeve-error.ts";
import { REQUESTED_CAPTURES } from "../../../session/persistence.ts";
import { NETWORKS } from "../../../session/container.ts";
import { RESTART_POLICIES } from "../../../session/restart-record.ts";
import { BRANCH_POLICIES } from "../../../session/branch-policy.ts";
import { SESSION_ID_PATTERN } from "../../../session/session-id.ts";
import { WAKE_REASONS } from "../../../session/wake.ts";
import { answerInWords } from "../answer.ts";
import { calledAs } from "../called-as.ts";
import { callerEnvironment } from "../caller-environment.ts";
import { usage } from "../usage.ts";
import { usageLine } from "../help.ts";
import type { CliContext, CliCommand, CommandInput } from "../command.ts";
import { oneLine } from "../session-text.ts";
import { givenText } from "../text-input.ts";
import { timeOutsGiven } from "../time-outs-given.ts";
import { absolutePath } from "../working-directory.ts";
import { madeWorktreeLines } from "../worktree-text.ts";
import { reportTurn, WAIT_TIMEOUT, waitTimeout } from "../report-turn.ts";

/** For the tab key only; more may be declared in config.toml, and the daemon knows them all. */
const AGENTS = ["claude", "codex", "gemini", "command", "practice"] as const;

export const startCommand: CliCommand = {
  name: "start",
  takesKey: true,
  summary: "start a session: an agent in a terminal of its own",
  arguments: [
    { name: "agent", completion: AGENTS, isOptional: true },
    { name: "prompt", isOptional: true },
  ],
  options: [
    {
      name: "work",
      value: "WORK",
      completion: "work",
      summary: "give it this item of reeve work; what you leave out here, the item says",
    },
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
      summary: "the git branch the directory is on and must stay on, or with --worktree the branch of the worktree",
    },
    {
      name: "branch-policy",
      value: "POLICY",
      summary: "if another branch is checked out: report it, also pause the session, or give it no messages",
      choices: BRANCH_POLICIES,
    },
    { name: "allow-shared-checkout", summary: "start it although another session works in the same git checkout" },
    { name: "worktree", summary: "give it a git worktree of its own, on --branch or on a new branch" },
    { name: "base", value: "REF", summary: "with --worktree: what a new branch begins from (default: your branch)" },
    { name: "fetch", summary: "with --worktree: fetch first, and begin from the remote's main branch" },
    { name: "no-fetch", summary: "with --worktree: do not fetch, although the settings say so" },
    {
      name: "runtime",
      value: "RUNTIME",
      summary: "where it runs: tmux (default) or docker",
      completion: ["tmux", "docker"],
    },
    { name: "image", value: "IMAGE", summary: "with --runtime docker: the image of its container" },
    { name: "memory", value: "SIZE", summary: "with --runtime docker: how much memory it may use, such as 2g" },
    { name: "cpus", value: "NUMBER", summary: "with --runtime docker: how many processors it may use" },
    { name: "pids", value: "NUMBER", summary: "with --runtime docker: how many processes it may have" },
    {
      name: "network",
      value: "NETWORK",
      summary:
        "with --runtime docker: none (default), proxy for its model only, or full for whatever this machine reaches",
      choices: NETWORKS,
    },
    {
      name: "mount",
      value: "SOURCE:TARGET[:ro]",
      summary: "with --runtime docker: what else of this machine it sees",
      isRepeatable: true,
    },
    {
      name: "restart",
      value: "POLICY",
      summary: "when Reeve starts it again after its process ended (default: see config.toml, else never)",
      choices: RESTART_POLICIES,
    },
    {
      name: "timeouts",
      value: "WHICH=TIME[:ACTION]",
      summary:
        "after how long Reeve does something about it, such as turn=30m:interrupt or idle=2h (default: see config.toml)",
      isRepeatable: true,
    },
    { name: "persist-session", summary: "keep everything about it in its directory: logs, model traffic, terminal" },
    { name: "no-persist-session", summary: "do not, although config.toml says so" },
    {
      name: "capture",
      value: "WAY",
      summary: "with --persist-session: capture model traffic by what the agent offers (default), or by a proxy",
      choices: REQUESTED_CAPTURES,
    },
    {
      name: "debug-log",
      value: "PATH",
      summary: "with --persist-session: where the agent's own log goes, relative to the session's directory",
    },
    { name: "hold", value: "REASON", summary: "hold it from the start, for 24 hours: see reeve hold" },
    { name: "env", value: "NAME=VALUE", summary: "a variable to add to its environment", isRepeatable: true },
    {
      name: "env-file",
      value: "FILE",
      summary:
        "a file with NAME=VALUE lines to add to its environment; read when the session is started, and again only if the tmux server is gone",
      completion: "file",
    },
    {
      name: "key-file",
      value: "NAME=FILE",
      summary: "a variable whose value is all that this file holds",
      isRepeatable: true,
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
    "Reeve does not write values given with --env, --env-file or --key-file to disk. It also hides them where the prompt, a message or the output repeats them, except values under 4 characters, plain words, paths, and variables named like PORT or USER. Do not put secrets after --: Reeve records those arguments, and anybody on this machine can see them in ps.",
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
    {
      line: 'reeve start claude "add a cache" --worktree --name cache',
      does: "in a worktree of its own, on the new branch reeve/cache",
    },
    { line: "reeve start --work work-k3v9xw2apq", does: "begin an item of the queue, as the item says" },
    { line: 'reeve start practice "tidy up"', does: "a practice session, without a model behind it" },
    { line: "reeve start command --name dev -- npm run dev", does: "any program as a session" },
    {
      line: 'reeve start claude "fix it" --timeouts turn=1h:interrupt --timeouts idle=8h',
      does: "interrupt a turn after an hour, and end the session after eight idle hours",
    },
    {
      line: 'reeve start codex "why does it crash?" --persist-session',
      does: "keep everything about it, to look into it afterwards",
    },
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
    const kept = restartSentence(started);
    const told =
      started.parked === null
        ? `Started ${name} (${id}). See it with: ${reeve} attach ${name}`
        : `Recorded ${name} (${id}). ${oneLine(started.parked.reason)} It is started then; reeve quota shows who waits.`;
    const { work } = started;
    const given = work === null ? "" : `\nIt works on ${work.work_id}: ${oneLine(work.title)}.`;
    const lines = madeWorktreeLines(started.made_worktree, Date.now());
    const where = lines.map((line) => `\n${line}`).join("");
    const off = (started.persistence?.switched_off ?? []).map((sentence) => `\n${oneLine(sentence)}`).join("");
    answerInWords(context, started, () => `${told}${given}${where}${kept}${off}${woken}`);
    return 0;
  }
  context.output.note(`Started ${name} (${id}); waiting for it.`);
  const waited = await client.waitForSession({ session: id, reply: false, since: cursor, ...timeout });
  const prompt = { text: request.prompt ?? null, since: started.created_at };
  return await reportTurn(context, client, waited, { prompt, fields: {} });
}

/** Only where it is not what this command line says. */
function restartSentence({ restart_policy, restart_policy_from }: OutputOf<"startSession">): string {
  if (restart_policy_from !== "role" && restart_policy_from !== "agent") return "";
  return `\nRestart policy: ${restart_policy}, from config.toml for its ${restart_policy_from}.`;
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
  const [agent, words] = input.arguments;
  const work = input.text("work");
  const cwd = input.text("cwd");
  if (agent === undefined && work === undefined)
    throw usage("missing-argument", `start needs an agent; usage: ${usageLine(startCommand)}`);
  const prompt = givenText(input, context, words) ?? undefined;
  const envFile = input.text("env-file");
  const parent = environment["REEVE_SESSION_ID"];
  const optional = {
    agent,
    work,
    // Of a work item, where it is done is part of the item.
    cwd: cwd === undefined && work !== undefined ? undefined : absolutePath(context, cwd ?? "."),
    prompt,
    name: input.text("name"),
    role: input.text("role"),
    branch: input.text("branch"),
    branch_policy: BRANCH_POLICIES.find((policy) => policy === input.text("branch-policy")),
    runtime: input.text("runtime"),
    image: input.text("image"),
    memory: input.text("memory"),
    cpus: numberGiven(input, "cpus"),
    pids: numberGiven(input, "pids"),
    network: NETWORKS.find((network) => network === input.text("network")),
    mounts: mountsGiven(input, context),
    restart: RESTART_POLICIES.find((known) => known === input.text("restart")),
    model: input.text("model"),
    notify: notifyOf(input),
    base: input.text("base"),
    fetch: eitherOf(input, "fetch", "no-fetch"),
    persist_session: eitherOf(input, "persist-session", "no-persist-session"),
    capture: REQUESTED_CAPTURES.find((way) => way === input.text("capture")),
    debug_log: input.text("debug-log"),
    timeouts: timeOutsGiven(input.texts("timeouts")),
    hold: input.text("hold"),
  };
  return {
    args: [...input.rest],
    environment: callerEnvironment(context),
    env: Object.fromEntries(input.texts("env").map((text) => variable("env", text))),
    key_files: Object.fromEntries(
      input.texts("key-file").map((text) => {
        const [name, path] = variable("key-file", text);
        return [name, absolutePath(context, path)];
      }),
    ),
    ...presentOnly(optional),
    ...(input.flag("no-mcp") ? { mcp: false } : {}),
    ...(input.flag("allow-shared-checkout") ? { allow_shared_checkout: true } : {}),
    ...(input.flag("worktree") ? { worktree: true } : {}),
    // Here, not in the session's directory: that is where the shell completed it.
    ...(envFile === undefined ? {} : { env_file: absolutePath(context, envFile) }),
    // Called from inside a session: that one is its parent.
    ...(parent !== undefined && SESSION_ID_PATTERN.test(parent) ? { parent } : {}),
  };
}

function numberGiven(input: CommandInput, option: "cpus" | "pids"): number | undefined {
  const given = input.text(option);
  if (given === undefined) return undefined;
  const number = Number(given);
  if (given.trim() !== "" && Number.isFinite(number)) return number;
  throw usage("bad-value", `--${option} takes a number, not "${oneLine(given)}".`);
}

/** Relative to where the command is given, as the shell completed it. */
function mountsGiven(input: CommandInput, context: CliContext): string[] | undefined {
  const given = input.texts("mount");
  if (given.length === 0) return undefined;
  return given.map((text) => {
    const colon = text.indexOf(":");
    if (colon <= 0)
      throw usage("bad-value", `--mount takes SOURCE:TARGET or SOURCE:TARGET:ro, not "${oneLine(text)}".`);
    return `${absolutePath(context, text.slice(0, colon))}${text.slice(colon)}`;
  });
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

function eitherOf(input: CommandInput, on: string, off: string): boolean | undefined {
  if (input.flag(on) && input.flag(off))
    throw usage("bad-value", `--${on} and --${off} exclude each other; leave one out.`);
  return input.flag(on) ? true : input.flag(off) ? false : undefined;
}

function variable(option: "env" | "key-file", text: string): [string, string] {
  const equals = text.indexOf("=");
  if (equals > 0) return [text.slice(0, equals), text.slice(equals + 1)];
  throw usage("bad-value", `--${option} takes NAME=${option === "env" ? "VALUE" : "FILE"}, not "${oneLine(text)}".`);
}

function presentOnly<T extends object>(fields: T): { [Key in keyof T]: Exclude<T[Key], undefined> } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as {
    [Key in keyof T]: Exclude<T[Key], undefined>;
  };
}
