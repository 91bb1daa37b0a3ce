/**
 * `reeve init`: registers Reeve with an agent that Reeve did not start. It says
 * what will change, asks, and changes that. Loaded only when needed. What is
 * not as init makes it belongs to the user: it is neither replaced nor removed.
 */
import { homedir } from "node:os";
import { join } from "node:path";
import { findExecutable } from "../../../platform/executable.ts";
import { ReeveError } from "../../../platform/reeve-error.ts";
import { answerInWords } from "../answer.ts";
import type { CliContext } from "../command.ts";
import { isConfirmed } from "../confirm.ts";
import type { Places, Registrar, Scope, ServerCommand } from "./registrar.ts";
import { REGISTRARS } from "./registrars.ts";
import { serverStep } from "./server-step.ts";
import { skillStep } from "./skill-step.ts";
import type { Step } from "./step.ts";

export interface InitOptions {
  readonly agent: string;
  readonly scope: Scope;
  readonly withSkill: boolean;
  readonly isUndo: boolean;
  readonly isAgreed: boolean;
}

export async function init(context: CliContext, options: InitOptions): Promise<number> {
  refuseInSession(context);
  const registrar = registrarOf(options.agent);
  const steps = stepsOf(context, registrar, options);
  const due = steps.filter(({ state }) => state === (options.isUndo ? "ours" : "absent"));
  const foreign = steps.filter(({ state }) => state === "theirs");
  const needed = foreign.find(({ isNeeded }) => isNeeded);
  if (needed !== undefined && !options.isUndo)
    throw new ReeveError({ code: "name-taken", kind: "conflict", message: needed.theirs });
  const lines = due.map(({ doing, undoing }) => (options.isUndo ? undoing : doing));
  const notes = foreign.map(({ theirs }) => theirs);
  const view = { agent: registrar.name, scope: options.scope, undo: options.isUndo, changes: lines, notes };
  if (due.length === 0) {
    answerInWords(context, { done: true, ...view }, () => [nothingTo(registrar, options), ...notes].join("\n"));
    return 0;
  }
  if (!context.isJson) context.output.say(planText(registrar, options, lines, notes));
  if (!options.isAgreed && !(await isConfirmed(context))) {
    if (context.isJson) context.output.printJson({ done: false, ...view });
    else context.output.note("Nothing was changed. To do it without being asked, add --yes.");
    return 1;
  }
  for (const step of due) await (options.isUndo ? step.takeBack() : step.make());
  answerInWords(context, { done: true, ...view }, () => doneText(registrar, options));
  return 0;
}

/** A later one belongs here: what init makes, in order. */
function stepsOf(context: CliContext, registrar: Registrar, options: InitOptions): readonly Step[] {
  const { environment } = context;
  const places: Places = { home: environment["HOME"] ?? homedir(), cwd: context.cwd(), environment };
  const program = findExecutable(registrar.name, { cwd: places.cwd, path: environment["PATH"] });
  if (program === null)
    throw new ReeveError({
      code: "agent-not-installed",
      kind: "usage",
      message: `There is no program "${registrar.name}" on the PATH; install ${registrar.title} with: ${registrar.install}`,
    });
  const server = serverStep({
    registrar,
    program,
    scope: options.scope,
    places,
    server: serverCommand(context, registrar),
  });
  if (!options.withSkill && !options.isUndo) return [server];
  const shipped = join(context.root, "skills", "reeve", "SKILL.md");
  return [server, skillStep(shipped, registrar.skills(options.scope, places))];
}

/** By which the daemon is found: an agent that hides them would find another one. */
const PLACE_VARIABLES = ["XDG_STATE_HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_RUNTIME_DIR"];

function serverCommand({ root, environment }: CliContext, { hidesEnvironment }: Registrar): ServerCommand {
  const names = ["REEVE_HOME", ...(hidesEnvironment ? PLACE_VARIABLES : [])];
  const set = names.flatMap((name) => {
    const value = environment[name];
    return value === undefined || value === "" ? [] : [[name, value] as const];
  });
  return { words: [join(root, "bin", "reeve"), "mcp"], variables: Object.fromEntries(set) };
}

function registrarOf(name: string): Registrar {
  const registrar = REGISTRARS.find((candidate) => candidate.name === name);
  if (registrar !== undefined) return registrar;
  const names = REGISTRARS.map((candidate) => candidate.name).join(", ");
  throw new ReeveError({
    code: "unknown-agent",
    kind: "usage",
    message: `reeve init knows ${names}; for another agent, register the command "reeve mcp" as an MCP server (stdio) in its settings.`,
  });
}

/** What an agent registers there would act for the user. */
function refuseInSession({ environment }: CliContext): void {
  if ((environment["REEVE_SESSION_ID"] ?? "") === "") return;
  throw new ReeveError({
    code: "inside-session",
    kind: "conflict",
    message:
      "This runs inside a session, whose agent has Reeve's MCP server already; run reeve init in a terminal of your own.",
  });
}

function planText(
  registrar: Registrar,
  { isUndo, scope }: InitOptions,
  lines: readonly string[],
  notes: readonly string[],
): string {
  const where = scope === "user" ? "in all your projects" : "in this directory";
  const what = isUndo ? "This takes back what reeve init did for" : "This lets you use Reeve from";
  const warning = `Each ${registrar.title} that you start yourself can then do with your sessions whatever you can: start, read, write to and end all of them.`;
  return [
    `${what} ${registrar.title} ${where}:`,
    ...lines.map((line) => `  ${line}`),
    ...(isUndo ? [] : [warning]),
    ...notes,
    "",
  ].join("\n");
}

function doneText({ title, name }: Registrar, { isUndo }: InitOptions): string {
  if (isUndo) return `Done. ${title} no longer has Reeve's MCP server.`;
  return `Done. Start ${title} anew to use it. To take it back: reeve init ${name} --undo`;
}

function nothingTo({ title }: Registrar, { isUndo }: InitOptions): string {
  return isUndo
    ? `Nothing was changed: ${title} does not have what reeve init would have made.`
    : `Nothing was changed: ${title} has it already.`;
}
