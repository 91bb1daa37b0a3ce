/**
 * `reeve init`: registers Reeve with an agent that Reeve did not start. It says
 * what will change, asks, and changes that. Loaded only when needed. What is
 * not as init makes it belongs to the user: it is neither replaced nor removed.
 */
import { homedir } from "node:os";
import { join } from "node:path";
import { findExecutable } from "../../../platform/executable.ts";
import { locateHome } from "../../../platform/home.ts";
import { ReeveError } from "../../../platform/reeve-error.ts";
import { answerInWords } from "../answer.ts";
import type { CliContext } from "../command.ts";
import { isConfirmed } from "../confirm.ts";
import type { Places, Registrar, Scope, ServerCommand } from "./registrar.ts";
import { codexDir, REGISTRARS } from "./registrars.ts";
import { isLoadedByHooks, repositoryAround } from "./repository.ts";
import { ALWAYS_LOADED_BUDGET_BYTES } from "./restart-card-text.ts";
import { alwaysLoadedBytes, restartSteps } from "./restart-steps.ts";
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
  const { steps, registration, remarks } = planOf(context, registrar, options);
  const due = steps.filter(({ state }) => state === (options.isUndo ? "ours" : "absent"));
  const foreign = steps.filter(({ state }) => state === "theirs");
  const needed = foreign.find(({ isNeeded }) => isNeeded);
  if (needed !== undefined && !options.isUndo)
    throw new ReeveError({ code: "name-taken", kind: "conflict", message: needed.theirs });
  const lines = due.map(({ doing, undoing }) => (options.isUndo ? undoing : doing));
  const notes = [...foreign.map(({ theirs }) => theirs), ...remarks(due)];
  const registers = registration !== null && due.includes(registration);
  const view = { agent: registrar.name, scope: options.scope, undo: options.isUndo, changes: lines, notes };
  if (due.length === 0) {
    answerInWords(context, { done: true, ...view }, () => [nothingTo(registrar, options), ...notes].join("\n"));
    return 0;
  }
  if (!context.isJson) context.output.say(planText(registrar, { ...options, registers }, lines, notes));
  if (!options.isAgreed && !(await isConfirmed(context))) {
    if (context.isJson) context.output.printJson({ done: false, ...view });
    else context.output.note("Nothing was changed. To do it without being asked, add --yes.");
    return 1;
  }
  for (const step of due) await (options.isUndo ? step.takeBack() : step.make());
  answerInWords(context, { done: true, ...view }, () => doneText(registrar, { ...options, registers }));
  return 0;
}

interface Plan {
  readonly steps: readonly Step[];
  /** Of Reeve's MCP server; null where it is not asked for, or the agent is not there. */
  readonly registration: Step | null;
  /** What else to say, when these steps are due. */
  remarks(due: readonly Step[]): readonly string[];
}

/** A later step belongs here: what init makes, in order. */
function planOf(context: CliContext, registrar: Registrar, options: InitOptions): Plan {
  const { environment } = context;
  const places: Places = { home: environment["HOME"] ?? homedir(), cwd: context.cwd(), environment };
  const repository = registrar.name === "codex" ? repositoryFor(places) : null;
  const program = findExecutable(registrar.name, { cwd: places.cwd, path: environment["PATH"] });
  const isOnlyRepository = repository !== null && options.scope === "project";
  if (program === null && repository === null) throw notInstalled(registrar);
  const registration =
    program === null || isOnlyRepository
      ? null
      : serverStep({
          registrar,
          program,
          scope: options.scope,
          places,
          server: serverCommand(context, registrar),
          notesPath: locateHome(environment).initPath,
        });
  const shipped = join(context.root, "skills", "reeve", "SKILL.md");
  const isSkillAsked = options.withSkill || (options.isUndo && (program !== null || isOnlyRepository));
  const inRepository = repository === null ? [] : restartSteps(repository, options.isUndo);
  return {
    steps: [
      ...(registration === null ? [] : [registration]),
      ...(isSkillAsked ? [skillStep(shipped, registrar.skills(options.scope, places))] : []),
      ...inRepository,
    ],
    registration,
    remarks: (due) => [
      ...(program === null && !isOnlyRepository
        ? [`${notInstalled(registrar).message}. Only the repository's files are concerned.`]
        : []),
      ...(repository === null || options.isUndo ? [] : remarksOn(repository, places, inRepository, due)),
    ],
  };
}

/** Codex's own directory may lie in a repository, too: that is no project. */
function repositoryFor(places: Places): string | null {
  const repository = repositoryAround(places.cwd);
  return repository === null || join(repository, ".codex") === codexDir(places) ? null : repository;
}

function remarksOn(
  repository: string,
  places: Places,
  steps: readonly Step[],
  due: readonly Step[],
): readonly string[] {
  const bytes = alwaysLoadedBytes(
    repository,
    steps.some((step) => due.includes(step)),
  );
  return [
    ...(isLoadedByHooks(repository, codexDir(places))
      ? []
      : [
          "No hook loads .codex/CODEX.md into Codex's turns (nothing in .codex/hooks.json names it), so Codex does not see the line by itself. AGENTS.md holds as before.",
        ]),
    ...(bytes > ALWAYS_LOADED_BUDGET_BYTES
      ? [
          `.codex/CODEX.md has ${bytes} bytes with the line. If a hook loads it into every turn, keep it below ${ALWAYS_LOADED_BUDGET_BYTES} bytes and move the rest into files that are read when needed.`,
        ]
      : []),
  ];
}

function notInstalled(registrar: Registrar): ReeveError {
  return new ReeveError({
    code: "agent-not-installed",
    kind: "usage",
    message: `There is no program "${registrar.name}" on the PATH; install ${registrar.title} with: ${registrar.install}`,
  });
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

type Shown = InitOptions & { readonly registers: boolean };

function planText(
  registrar: Registrar,
  { isUndo, scope, registers }: Shown,
  lines: readonly string[],
  notes: readonly string[],
): string {
  const where = scope === "user" ? "in all your projects" : "in this directory";
  const what = isUndo ? "This takes back what reeve init did for" : "This lets you use Reeve from";
  const heading = registers || isUndo ? `${what} ${registrar.title} ${where}:` : `This is for ${registrar.title}:`;
  const warning = `Each ${registrar.title} that you start yourself can then do with your sessions whatever you can: start, read, write to and end all of them.`;
  return [heading, ...lines.map((line) => `  ${line}`), ...(isUndo || !registers ? [] : [warning]), ...notes, ""].join(
    "\n",
  );
}

function doneText({ title, name }: Registrar, { isUndo, registers, scope }: Shown): string {
  if (isUndo) return registers ? `Done. ${title} no longer has Reeve's MCP server.` : "Done. It was taken back.";
  const undo = `To take it back: reeve init ${name}${scope === "project" ? " --project" : ""} --undo`;
  return `Done. ${registers ? `Start ${title} anew to use it. ` : ""}${undo}`;
}

function nothingTo({ title }: Registrar, { isUndo }: InitOptions): string {
  return isUndo
    ? `Nothing was changed: ${title} does not have what reeve init would have made.`
    : `Nothing was changed: ${title} has it already.`;
}
