/**
 * Reads a manifest: the text of a `reeve.toml` becomes checked sessions with
 * the defaults applied, and a list of all its mistakes, each with its line and
 * column. Pure: what only the machine knows (directories, branches, programs)
 * is checked by whoever carries it out.
 */
import { dirname, resolve } from "node:path";
import { parse, TomlError } from "smol-toml";
import * as z from "zod/mini";
import { type ManifestFile, MANIFEST, type Service, type SessionTable } from "./manifest-schema.ts";
import { schemaMistakes } from "./manifest-mistake.ts";
import { locateToml, type Position, type TomlPath, type TomlPositions } from "./toml-positions.ts";

export interface Mistake extends Position {
  /** Stable, for programs. */
  readonly code: string;
  /** What is wrong and what to do, in one sentence. */
  readonly message: string;
}

/** What a session of the manifest should be; paths are absolute. Only what was said is in it. */
export interface SessionSpec extends Omit<SessionTable, "id" | "goal" | "workspace" | "agent" | "branch"> {
  readonly agent: string;
  readonly branch: string;
  readonly workspace: string;
}

export interface ManifestSession {
  readonly id: string;
  /** Its place in the file, from 0 on. */
  readonly order: number;
  readonly spec: SessionSpec;
  /** Where the file says this of it; where it says nothing, where the session begins. */
  at(key: keyof SessionTable): Position;
}

export interface Manifest {
  /** Those without a mistake of their own. */
  readonly sessions: readonly ManifestSession[];
  /** The others, with the keys that are right: what each of these names can still be looked for. */
  readonly mistaken: readonly ManifestSession[];
  /** Every id in the file, also of sessions with mistakes. */
  readonly ids: readonly string[];
  readonly services: readonly Service[];
  readonly verify: readonly string[] | null;
  readonly mistakes: readonly Mistake[];
}

export interface ManifestText {
  /** Absolute. */
  readonly file: string;
  readonly text: string;
  /** Whether a text has the form of a key or a password. */
  readonly looksSecret: (text: string) => boolean;
  /** Where sessions of this role run if the file does not say; missing: in tmux. */
  readonly runtimeOf?: (role: string) => string | null;
}

const START: Position = { line: 1, column: 1 };

export function readManifest({ file, text, looksSecret, runtimeOf }: ManifestText): Manifest {
  let tree: unknown;
  try {
    tree = parse(text);
  } catch (error) {
    if (!(error instanceof TomlError)) throw error;
    return { ...NOTHING, mistakes: [syntaxMistake(error)] };
  }
  const positions = locateToml(text);
  const secrets = secretsIn(tree, looksSecret);
  const isSecret = (path: TomlPath): boolean => secrets.some((secret) => isWithin(secret, path));
  const result = z.safeParse(MANIFEST, tree);
  const found = result.success ? [] : schemaMistakes(result.error.issues, tree, positions, isSecret);
  const given = tree as Partial<ManifestFile>;
  const tables = Array.isArray(given.sessions) ? given.sessions.filter(isTable) : [];
  const runtimeFor = (role: unknown): string => (typeof role === "string" ? runtimeOf?.(role) : null) ?? TMUX;
  const rules = tables.map((table, index) => ruleMistakes(table, given, { positions, index, runtimeFor }));
  const mistakes = [
    ...secrets.map((path) => secretMistake(path, positions)),
    ...found,
    ...duplicates(tables, positions),
    ...rules.flat(),
    ...(tables.length === 0 && found.length === 0 ? [emptyMistake()] : []),
  ].toSorted((one, other) => one.line - other.line || one.column - other.column);
  const wrong = [...(result.success ? [] : result.error.issues.map(({ path }) => path)), ...secrets];
  const isWrong = (index: number): boolean =>
    wrong.some((path) => path[0] === "defaults" || (path[0] === "sessions" && path[1] === index)) ||
    rules[index]?.length !== 0;
  const sessions = tables.flatMap((table, index) =>
    isWrong(index) ? [] : [sessionOf(table, given, { file, index, positions })],
  );
  const isRight = (path: TomlPath): boolean => !wrong.some((one) => isWithin(one, path));
  const mistaken = tables.flatMap((table, index) => {
    if (!isWrong(index)) return [];
    const own = withKeys(table, (key) => isRight(["sessions", index, key]));
    const defaults = withKeys(given.defaults ?? {}, (key) => isRight(["defaults", key]));
    return [sessionOf(own, { defaults }, { file, index, positions })];
  });
  return {
    sessions,
    mistaken,
    ids: tables.flatMap(({ id }) => (typeof id === "string" ? [id] : [])),
    services: result.success ? (result.data.services ?? []) : [],
    verify: result.success ? (result.data.work?.verify ?? null) : null,
    mistakes,
  };
}

const NOTHING = { sessions: [], mistaken: [], ids: [], services: [], verify: null };

function syntaxMistake({ line, column, message }: TomlError): Mistake {
  const what = (message.split("\n", 1)[0] ?? "").replace("Invalid TOML document: ", "");
  return {
    line,
    column,
    code: "not-toml",
    message: `This is not TOML (${what}); fix it, and the rest of the file is checked.`,
  };
}

function emptyMistake(): Mistake {
  return { ...START, code: "no-sessions", message: "The manifest names no sessions; add one with [[sessions]]." };
}

type Loose = Partial<Record<keyof SessionTable, unknown>>;

/** What the keys of one session must be to one another, with the defaults. */
function ruleMistakes(
  table: Loose,
  file: Partial<ManifestFile>,
  around: {
    readonly positions: TomlPositions;
    readonly index: number;
    readonly runtimeFor: (role: unknown) => string;
  },
): Mistake[] {
  const { positions, index } = around;
  const defaults: Loose = isTable(file.defaults) ? file.defaults : {};
  const all: Loose = { ...defaults, ...table };
  const who = typeof table.id === "string" ? `Session ${table.id}` : "This session";
  const mistake = (key: keyof SessionTable, code: string, message: string): Mistake => ({
    ...keyPosition(positions, file, index, key),
    code,
    message,
  });
  const has = (key: keyof SessionTable): boolean => all[key] !== undefined && all[key] !== false;
  const found: Mistake[] = [];
  if (!has("branch"))
    found.push(
      mistake("branch", "missing-branch", `${who} names no branch; add branch = "…", the git branch that it works on.`),
    );
  if (!has("agent"))
    found.push(mistake("agent", "missing-agent", `${who} names no agent; add agent = "…" here or in [defaults].`));
  if (all.agent === COMMAND && !has("command"))
    found.push(
      mistake(
        "agent",
        "missing-command",
        `${who} runs a command but does not say which; add command = ["program", "argument"].`,
      ),
    );
  if (has("agent") && all.agent !== COMMAND && has("command"))
    found.push(
      mistake(
        "command",
        "not-a-command",
        `${who} runs ${shown(all.agent)}, which takes no command; write args for arguments, or agent = "command".`,
      ),
    );
  if (all.agent === COMMAND && table.args !== undefined)
    found.push(mistake("args", "args-of-command", `${who} runs a command; put its arguments into command.`));
  if (has("prompt") && has("goal"))
    found.push(
      mistake("goal", "prompt-and-goal", `${who} has both prompt and goal, which mean the same; leave one out.`),
    );
  for (const key of ["base", "fetch"] as const)
    if (has(key) && !has("worktree"))
      found.push(
        mistake(
          key,
          "needs-worktree",
          `${who} has ${key}, which belongs to worktree = true; add that or leave ${key} out.`,
        ),
      );
  if ((all.runtime ?? around.runtimeFor(all.role)) === TMUX)
    for (const key of ["image", "resources", "mounts", "network"] as const)
      if (has(key))
        found.push(
          mistake(
            key,
            "needs-container",
            `${who} runs in tmux, where ${key} means nothing; leave it out, or choose a runtime with containers.`,
          ),
        );
  return found;
}

const COMMAND = "command";
const TMUX = "tmux";

function shown(value: unknown): string {
  return typeof value === "string" ? value : "another agent";
}

function duplicates(tables: readonly Loose[], positions: TomlPositions): readonly Mistake[] {
  return tables.flatMap(({ id }, index) => {
    const first = tables.findIndex((other) => other.id === id);
    if (typeof id !== "string" || first === index) return [];
    const at = positions.ofValue(["sessions", index, "id"]) ?? START;
    const line = positions.ofKey(["sessions", first, "id"])?.line ?? 1;
    return [
      {
        ...at,
        code: "duplicate-id",
        message: `There is a session ${id} on line ${line} already; give this one another id.`,
      },
    ];
  });
}

function sessionOf(
  table: SessionTable,
  { defaults = {} }: Partial<ManifestFile>,
  { file, index, positions }: { readonly file: string; readonly index: number; readonly positions: TomlPositions },
): ManifestSession {
  const { id, goal, ...own } = table;
  const all = { ...defaults, ...own };
  const within = (path: string): string => resolve(dirname(file), path);
  const prompt = all.prompt ?? goal;
  const args = all.command === undefined ? all.args : undefined;
  const spec: SessionSpec = {
    ...all,
    args,
    agent: all.agent ?? "",
    branch: all.branch ?? "",
    workspace: within(all.workspace ?? "."),
    ...(prompt === undefined ? {} : { prompt }),
    ...(all.env_file === undefined ? {} : { env_file: within(all.env_file) }),
    ...(all.key_file === undefined
      ? {}
      : { key_file: Object.fromEntries(Object.entries(all.key_file).map(([name, path]) => [name, within(path)])) }),
  };
  return {
    id,
    order: index,
    spec: saidOnly(spec),
    at: (key) => keyPosition(positions, { defaults }, index, key),
  };
}

/** Without what says nothing, so that leaving it out is no change. */
function saidOnly(spec: SessionSpec): SessionSpec {
  const says = (value: unknown): boolean =>
    value !== undefined && value !== false && (typeof value !== "object" || Object.keys(value ?? {}).length > 0);
  // An MCP server is what a session has unless the file says no.
  const isDefault = (key: string, value: unknown): boolean => {
    // The settings may say yes, and the file no; likewise a role that has mounts.
    if (key === "persist_session" || key === "mounts") return value === undefined;
    return key === "mcp" ? value === true : !says(value);
  };
  return Object.fromEntries(
    Object.entries(spec).filter(([key, value]) => !isDefault(key, value)),
  ) as unknown as SessionSpec;
}

function keyPosition(
  positions: TomlPositions,
  { defaults }: Partial<ManifestFile>,
  index: number,
  key: keyof SessionTable,
): Position {
  const own = positions.ofKey(["sessions", index, key]);
  const inherited = isTable(defaults) && key in defaults ? positions.ofKey(["defaults", key]) : null;
  return own ?? inherited ?? positions.ofKey(["sessions", index]) ?? START;
}

function secretsIn(value: unknown, looksSecret: (text: string) => boolean, path: TomlPath = []): readonly TomlPath[] {
  if (typeof value === "string") return looksSecret(value) ? [path] : [];
  if (Array.isArray(value)) return value.flatMap((item, index) => secretsIn(item, looksSecret, [...path, index]));
  return isTable(value)
    ? Object.entries(value).flatMap(([key, item]) => secretsIn(item, looksSecret, [...path, key]))
    : [];
}

function secretMistake(path: TomlPath, positions: TomlPositions): Mistake {
  const key = path.findLast((part) => typeof part === "string") ?? "";
  return {
    ...(positions.ofValue(path) ?? START),
    code: "secret",
    message: `The value of ${key} looks like a secret, which must not stand in a manifest; put it into a file that only you can read and name that with env_file or key_file.`,
  };
}

function isWithin(inner: readonly PropertyKey[], path: TomlPath): boolean {
  return path.every((part, index) => inner[index] === part);
}

function withKeys<T extends object>(table: T, isKept: (key: string) => boolean): T {
  return Object.fromEntries(Object.entries(table).filter(([key]) => isKept(key))) as T;
}

function isTable(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
