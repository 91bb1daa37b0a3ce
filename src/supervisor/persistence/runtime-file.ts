/**
 * runtime.json: with what each process of a session ran. Versions, arguments,
 * the names of its variables, and what git said of its directory at the start
 * and at the end. Of variables only those on a safe list have their values in
 * it. It is brought up to date whenever something of it becomes known, and
 * written as a whole.
 */
import { existsSync } from "node:fs";
import { release, type } from "node:os";
import { join } from "node:path";
import { writeFileAtomic } from "../../platform/atomic-file.ts";
import { iso } from "../../platform/instant.ts";
import { isFields, parseFields } from "../../platform/json-fields.ts";
import { readOwnFile } from "../../platform/own-file.ts";
import { ensurePrivateDir } from "../../platform/private-dir.ts";
import type { Runtime } from "../../runtime/contract.ts";
import { RUNTIME_FILE } from "../../session/session-directory.ts";
import type { Session } from "../../session/session.ts";
import { findGit } from "../launch/git.ts";
import { targetOf } from "../ledger/target.ts";

export interface RuntimeFile {
  readonly v: 1;
  readonly session_id: string;
  readonly agent: string;
  readonly incarnations: readonly IncarnationEntry[];
}

export interface IncarnationEntry {
  readonly incarnation: number;
  readonly started_at: string | null;
  readonly ended_at: string | null;
  readonly exit: { readonly code: number | null; readonly signal: string | null } | null;
  readonly versions: {
    readonly agent: string | null;
    readonly reeve: string;
    readonly runtime: string | null;
    readonly node: string;
    readonly os: string;
  };
  /** Null: the daemon that started it died before it could note them. */
  readonly arguments: readonly string[] | null;
  readonly cwd: string;
  /** Null until its process could be asked. */
  readonly environment: { readonly names: readonly string[]; readonly values: Readonly<Record<string, string>> } | null;
  readonly git: { readonly start: GitState | null; readonly end: GitState | null };
}

interface GitState {
  readonly head: string | null;
  readonly branch: string | null;
  /** Against HEAD: what `git diff --stat` prints. */
  readonly diff_stat: string;
}

/** More starts than anybody reads; the newest are kept. */
const MOST_INCARNATIONS = 100;
const MOST_BYTES = 16_777_216;
const MOST_STAT_CHARACTERS = 16_384;

export interface RuntimeFacts {
  readonly reeve: string;
  readonly runtime: Runtime;
  /** By which its agent finds its files. */
  readonly pathVariables: readonly string[];
  /** What it was started with, where this daemon did that. */
  readonly argv: readonly string[] | null;
  readonly redact: (text: string) => string;
}

/** Writes what has become known since it was written last. */
export async function updateRuntimeFile(session: Session, facts: RuntimeFacts): Promise<void> {
  const path = join(session.identity.outputsDir, RUNTIME_FILE);
  const before = readFile(path);
  const { incarnation } = session.process;
  const known = before?.incarnations.find((entry) => entry.incarnation === incarnation);
  const entry = await completed(known ?? (await begun(session, facts)), session, facts);
  if (known !== undefined && JSON.stringify(entry) === JSON.stringify(known)) return;
  const others = before?.incarnations.filter((one) => one.incarnation !== incarnation) ?? [];
  const file: RuntimeFile = {
    v: 1,
    session_id: session.id,
    agent: session.identity.agent,
    incarnations: [...others, entry].slice(-MOST_INCARNATIONS),
  };
  if (!existsSync(session.identity.outputsDir)) ensurePrivateDir(session.identity.outputsDir);
  await writeFileAtomic(path, `${JSON.stringify(file, null, 2)}\n`);
}

async function begun(session: Session, { reeve, runtime }: RuntimeFacts): Promise<IncarnationEntry> {
  const { process: now, identity } = session;
  return {
    incarnation: now.incarnation,
    started_at: null,
    ended_at: null,
    exit: null,
    versions: {
      agent: null,
      reeve,
      runtime: await runtime.requireReady().catch(() => null),
      node: process.version,
      os: `${type()} ${release()} ${process.arch}`,
    },
    arguments: null,
    cwd: identity.launch.cwd,
    environment: null,
    // Of one that is over nobody can say any more what was there when it began.
    git: { start: now.exit === null ? await gitState(session, runtime) : null, end: null },
  };
}

async function completed(
  entry: IncarnationEntry,
  session: Session,
  { argv, runtime, pathVariables, redact }: RuntimeFacts,
): Promise<IncarnationEntry> {
  const { place, exit, startedAt } = session.process;
  const isAlive = place !== null && exit === null;
  const environment =
    entry.environment === null && isAlive ? await runtime.environmentOf(targetOf(session), place) : null;
  const hasEnded = exit !== null && entry.ended_at === null;
  return {
    ...entry,
    started_at: entry.started_at ?? (place === null || startedAt === null ? null : iso(startedAt)),
    ...(hasEnded ? { ended_at: iso(exit.at), exit: { code: exit.code, signal: exit.signal } } : {}),
    versions: { ...entry.versions, agent: session.watch.version },
    arguments: entry.arguments ?? argv?.map(redact) ?? null,
    environment: environment === null ? entry.environment : shown(environment, pathVariables, redact),
    git: hasEnded ? { ...entry.git, end: await gitState(session, runtime) } : entry.git,
  };
}

const SAFE = /^(?:PATH|HOME|LANG|LC_[A-Z]+|TERM|SHELL|TZ)$/;

function shown(
  environment: Readonly<Record<string, string>>,
  pathVariables: readonly string[],
  redact: (text: string) => string,
): NonNullable<IncarnationEntry["environment"]> {
  const names = Object.keys(environment).toSorted();
  const safe = names.filter((name) => SAFE.test(name) || pathVariables.includes(name));
  return { names, values: Object.fromEntries(safe.map((name) => [name, redact(environment[name] ?? "")])) };
}

/** Null where it works in no repository, or git does not answer. */
async function gitState({ identity }: Session, { files }: Runtime): Promise<GitState | null> {
  const { cwd, paths } = identity.launch;
  try {
    const git = await findGit(files, cwd, paths);
    if (git === null) return null;
    const ask = async (...args: readonly string[]): Promise<string | null> => {
      const { status, stdout } = await git.run(cwd, args);
      return status === 0 ? stdout.trimEnd() : null;
    };
    if ((await ask("rev-parse", "--git-dir")) === null) return null;
    const head = await ask("rev-parse", "--verify", "--quiet", "HEAD");
    const stat = head === null ? null : await ask("diff", "--no-ext-diff", "--no-textconv", "--stat=100", "HEAD");
    return {
      head,
      branch: await ask("symbolic-ref", "--short", "--quiet", "HEAD"),
      diff_stat: (stat ?? "").slice(-MOST_STAT_CHARACTERS),
    };
  } catch {
    return null;
  }
}

/** One that somebody else wrote is begun anew. */
function readFile(path: string): RuntimeFile | null {
  const fields = parseFields(readOwnFile(path, MOST_BYTES) ?? "");
  const isOurs = fields?.["v"] === 1 && Array.isArray(fields["incarnations"]) && fields["incarnations"].every(isFields);
  return isOurs ? (fields as unknown as RuntimeFile) : null;
}
