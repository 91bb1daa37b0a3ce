/**
 * Checks of a manifest that need the machine: directories, files of secrets,
 * agents and their programs, branches and worktrees. All sessions are checked,
 * nothing is changed, and every mistake is told with its place in the file.
 */
import { statSync } from "node:fs";
import type { Step } from "../fleet/manifest-plan.ts";
import type { ManifestSession, Mistake } from "../fleet/manifest.ts";
import type { SessionTable } from "../fleet/manifest-schema.ts";
import { errnoOf, ReeveError } from "../platform/reeve-error.ts";
import { shellWord } from "../platform/shell-quote.ts";
import type { Runtime } from "../runtime/contract.ts";
import type { Session } from "../session/session.ts";
import { readFiles } from "../supervisor/launch/environment.ts";
import type { OperationContext } from "./contract.ts";
import { checkCheckout, type SessionCheckout } from "./manifest-checkout.ts";
import type { ManifestStart } from "./manifest-start.ts";
import { existingDirectory } from "./existing-directory.ts";
import { chosenRuntime } from "./start-container.ts";
import { type PreparedLaunch, prepareLaunch, requireExecutable } from "./start-launch.ts";

export interface SessionCheck {
  readonly session: ManifestSession;
  readonly step: Step;
  readonly start: ManifestStart;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Sessions with which it may have to share a checkout; those of the same manifest are compared with one another. */
  readonly rivals: readonly Session[];
}

export interface CheckedSession {
  readonly mistakes: readonly Mistake[];
  /** Null where it could not be looked at, or is not started anew. */
  readonly checkout: SessionCheckout | null;
}

/** Runs a check of one key; null where it failed, which is then among the mistakes. */
type Attempt = <T>(key: keyof SessionTable, work: () => T | Promise<T>) => Promise<T | null>;

function attemptsOf(session: ManifestSession): { readonly mistakes: readonly Mistake[]; readonly attempt: Attempt } {
  const mistakes: Mistake[] = [];
  const attempt: Attempt = async (key, work) => {
    try {
      return await work();
    } catch (error) {
      mistakes.push(mistakeOf(session, key, error));
      return null;
    }
  };
  return { mistakes, attempt };
}

export async function checkSession(context: OperationContext, check: SessionCheck): Promise<CheckedSession> {
  const { session, step, start } = check;
  const { mistakes, attempt } = attemptsOf(session);
  const { files, isFound } = await lookForNamed(context, start, attempt);
  const isNew = step.action === "start" || step.action === "replace";
  if (!isFound || !isNew) return { mistakes, checkout: null };
  const where = { cwd: start.cwd, brought: check.environment, sessionDir: NOWHERE };
  const prepared = await attempt("prompt", () => prepareLaunch(context, { ...start, env: {} }, where));
  if (prepared === null) return { mistakes, checkout: null };
  await attempt(start.agent === "command" ? "command" : "agent", () => requireProgram(context, start, prepared));
  const checkout = await attempt("branch", () => checkCheckout(context, { ...check, launch: prepared.launch }, files));
  return { mistakes, checkout };
}

/** Of a session that has mistakes already: the agent, directory and files that it names. The rest follows from those. */
export async function checkMistaken(
  context: OperationContext,
  session: ManifestSession,
  start: ManifestStart,
): Promise<readonly Mistake[]> {
  const { mistakes, attempt } = attemptsOf(session);
  await lookForNamed(context, start, attempt);
  return mistakes;
}

async function lookForNamed(
  context: OperationContext,
  start: ManifestStart,
  attempt: Attempt,
): Promise<{ readonly files: Runtime["files"]; readonly isFound: boolean }> {
  const { supervisor } = context;
  const runtime = chosenRuntime(context, start);
  const isNamed = start.agent !== "";
  const isStartable =
    !isNamed || (await attempt("agent", () => (supervisor.requireStartable(start.agent, runtime), true)));
  // Of a runtime that nobody knows nothing can be asked; the directory is then looked for here.
  const isKnown = supervisor.runtimes().some(({ kind }) => kind === runtime);
  const { files } = supervisor.runtime(isKnown ? runtime : (supervisor.runtimes()[0]?.kind ?? "none"));
  const found = [
    isStartable,
    await attempt("workspace", () => existingDirectory(files, start.cwd)),
    await attempt(
      "env_file",
      () => (requirePrivate(start.env_file ?? null, { envFile: start.env_file ?? null }), true),
    ),
    ...(await Promise.all(
      Object.entries(start.key_files).map(([name, path]) =>
        attempt("key_file", () => (requirePrivate(path, { envFile: null, keyFiles: { [name]: path } }), true)),
      ),
    )),
  ];
  return { files, isFound: !found.includes(null) };
}

/** The directory of a session that is only checked. */
const NOWHERE = "/nonexistent/manifest";

async function requireProgram(
  context: OperationContext,
  start: ManifestStart,
  prepared: PreparedLaunch,
): Promise<void> {
  const planned = await context.supervisor.plan({
    agent: start.agent,
    runtime: prepared.runtime,
    sessionId: "manifest",
    outputsDir: NOWHERE,
    launch: prepared.launch,
    beginning: { resume: null, prompt: prepared.launch.prompt },
  });
  await requireExecutable({ ...prepared, programs: prepared.files }, planned);
}

const OTHERS_MAY_READ_OR_WRITE = 0o006;

/** Whoever may read it knows the secrets, and whoever may change it knows them next time. */
function requirePrivate(path: string | null, files: Parameters<typeof readFiles>[0]): void {
  if (path === null) return;
  const mode = modeOf(path);
  if (mode !== null && (mode & OTHERS_MAY_READ_OR_WRITE) !== 0)
    throw new ReeveError({
      code: "file-not-private",
      kind: "usage",
      message: `Everybody on this machine can read or change ${path}, which holds secrets; run: chmod 600 ${shellWord(path)}`,
    });
  readFiles(files);
}

function modeOf(path: string): number | null {
  try {
    return statSync(path).mode;
  } catch (error) {
    // Reading it says what is wrong.
    if (errnoOf(error) !== null) return null;
    throw error;
  }
}

/** Which key a refusal is about, where its check does not know. */
const KEY_OF_CODE: Readonly<Record<string, keyof SessionTable>> = {
  "unknown-runtime": "runtime",
  "missing-directory": "workspace",
  "no-repository": "workspace",
  "bare-repository": "workspace",
  "no-checkout": "workspace",
  "checkout-taken": "workspace",
  "unknown-base": "base",
  "needs-persist-session": "persist_session",
  "capture-unavailable": "capture",
  "bad-debug-log": "debug_log",
};

export function mistakeOf(session: ManifestSession, key: keyof SessionTable, error: unknown): Mistake {
  if (!(error instanceof ReeveError) || error.kind === "internal") throw error;
  return { ...session.at(KEY_OF_CODE[error.code] ?? key), code: error.code, message: inKeys(error.message) };
}

/** A sentence that was written for the command line, with the keys of a manifest in place of options. */
function inKeys(message: string): string {
  return message.replaceAll(/--([a-z]+(?:-[a-z]+)*)/g, (_, option: string) =>
    option === "cwd" ? "workspace" : option.replaceAll("-", "_"),
  );
}
