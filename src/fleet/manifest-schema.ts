/**
 * The keys of a manifest (`reeve.toml`), each defined once. The checks, the
 * published JSON Schema and the reference page are made from this. A message
 * that a check gives completes "it must be …".
 */
import * as z from "zod/mini";
import { BRANCH_POLICIES } from "../session/branch-policy.ts";
import { NETWORKS } from "../session/container.ts";
import { REQUESTED_CAPTURES } from "../session/persistence.ts";
import { RESTART_POLICIES } from "../session/restart-record.ts";
import { FREE_NAME, isFreeName, SESSION_ID_PATTERN } from "../session/session-id.ts";
import { parseTimeOuts, TIME_OUTS, type TimeOutName } from "../session/time-out.ts";

const WORD = "lower-case letters, digits and dashes, at most 64";
const LONGEST_TEXT = 65_536;

const plain = (what: string, most = 4_096) =>
  z.string(what).check(
    z.minLength(1, what),
    z.maxLength(most, `${what} of at most ${most} characters`),
    z.refine((given) => !given.includes("\0"), `${what} without a NUL character`),
  );
const word = () => z.string(WORD).check(z.regex(SESSION_ID_PATTERN, WORD));
const flag = () => z.boolean("true or false");
const listOf = (what: string) => z.array(plain("text"), what).check(z.maxLength(1_000, "a list of at most 1000"));
const oneOf = <const Known extends readonly [string, ...string[]]>(known: Known) =>
  z.enum(known, `${known.slice(0, -1).join(", ")} or ${known.at(-1)}`);
const variables = (what: string) =>
  z.record(
    z.string().check(z.regex(/^[A-Za-z_][A-Za-z0-9_]*$/, "letters, digits and underscores")),
    plain("a path"),
    what,
  );

/** What each of them takes is in one table, session/time-out.ts. */
const timeout = (name: TimeOutName) => {
  const { actions, meaning } = TIME_OUTS[name];
  const then = actions
    .map((action) => `"${action}"`)
    .join(", ")
    .replace(/, ([^,]*)$/, " or $1");
  const what = `a number of seconds, a time such as "30m", or { after = "30m", then = ${then} }`;
  const after = z.union([z.number(what), z.string(what)], what);
  // oxlint-disable-next-line unicorn/no-thenable -- the key has this name; nobody awaits a schema
  const table = z.strictObject({ after, then: z.optional(oneOf(actions)) });
  return z
    .optional(z.union([after, table], what).check(z.refine((given) => isTimeOut(name, given), what)))
    .check(z.describe(meaning));
};

function isTimeOut(name: TimeOutName, given: unknown): boolean {
  try {
    parseTimeOuts("timeouts", { [name]: given });
    return true;
  } catch {
    return false;
  }
}

const timeouts = z.strictObject(
  {
    start: timeout("start"),
    turn: timeout("turn"),
    idle: timeout("idle"),
    approval: timeout("approval"),
    stop_grace: timeout("stop_grace"),
    age: timeout("age"),
  } satisfies Record<TimeOutName, unknown>,
  "a table of time-outs",
);

const resources = z.strictObject(
  {
    cpus: z
      .optional(
        z.number("a number of processors").check(z.minimum(0.01, "0.01 or more"), z.maximum(1_024, "at most 1024")),
      )
      .check(z.describe("How many processors it may use.")),
    memory: z
      .optional(
        z.string('an amount such as "2g"').check(z.regex(/^\d+(?:\.\d+)?[kmgt]?b?$/i, 'an amount such as "2g"')),
      )
      .check(z.describe("How much memory it may use, such as `2g`.")),
    pids: z
      .optional(z.int("a whole number").check(z.minimum(1, "1 or more"), z.maximum(1_000_000, "at most 1000000")))
      .check(z.describe("How many processes it may have.")),
  },
  "a table with cpus, memory and pids",
);

/** Of every session, also as a default. */
const shared = {
  role: z.optional(word()).check(z.describe("What it is for, in one word; `list` and `wait` select by it.")),
  agent: z
    .optional(word())
    .check(z.describe("What to run: codex, claude, gemini, practice, command, or an agent of your settings.")),
  args: z.optional(listOf("a list of arguments")).check(z.describe("Further arguments for the agent's program.")),
  model: z.optional(plain("the name of a model", 255)).check(z.describe("The model, as the agent calls it.")),
  branch: z
    .optional(plain("the name of a branch", 255))
    .check(z.describe("The git branch that it works on, from the start to the end. Required.")),
  branch_policy: z
    .optional(oneOf(BRANCH_POLICIES))
    .check(z.describe("What happens if another branch is checked out: warn, pause, or error (no messages).")),
  workspace: z
    .optional(plain("a path"))
    .check(z.describe("The directory that it works in, relative to the manifest; by default that of the manifest.")),
  worktree: z
    .optional(flag())
    .check(z.describe("Whether it gets a git worktree of its own, made from the repository of `workspace`.")),
  base: z
    .optional(plain("a branch, a tag or a commit", 255))
    .check(z.describe("With `worktree`: what its branch begins from, if that does not exist yet.")),
  fetch: z.optional(flag()).check(z.describe("With `worktree`: whether to fetch from the remote first.")),
  allow_shared_checkout: z
    .optional(flag())
    .check(z.describe("Let it work in a checkout in which another session works, too.")),
  env_file: z
    .optional(plain("a path"))
    .check(
      z.describe("A file with NAME=VALUE lines for its environment, relative to the manifest. Only you may read it."),
    ),
  key_file: z
    .optional(variables("a table of variables and the files with their values"))
    .check(
      z.describe(
        'For each variable a file that holds its value and nothing else, such as `{ OPENAI_API_KEY = "keys/openai" }`. Only you may read it.',
      ),
    ),
  mcp: z.optional(flag()).check(z.describe("Whether the agent gets Reeve's MCP server; by default it does.")),
  runtime: z.optional(word()).check(z.describe("Where it runs; by default in tmux.")),
  image: z.optional(plain("the name of an image", 255)).check(z.describe("The image of its container; not for tmux.")),
  resources: z.optional(resources).check(z.describe("What its container may use; not for tmux.")),
  network: z
    .optional(oneOf(NETWORKS))
    .check(
      z.describe(
        "What its container reaches: none; proxy, its agent's model and no more; or full, whatever this machine does. Not for tmux.",
      ),
    ),
  mounts: z
    .optional(
      z.array(
        z
          .string('text such as "./data:/data:ro"')
          .check(z.regex(/^[^:\0]+:\/[^:\0]*(?::r[ow])?$/, 'text such as "./data:/data:ro"')),
        "a list of mounts",
      ),
    )
    .check(z.describe("What its container sees of this machine, such as `./data:/data:ro`; not for tmux.")),
  tags: z.optional(z.array(word(), "a list of words")).check(z.describe("Words of your choice, shown with it.")),
  restart: z
    .optional(oneOf(RESTART_POLICIES))
    .check(z.describe("Whether Reeve starts it again when its process ends by itself.")),
  timeouts: z
    .optional(timeouts)
    .check(z.describe("How long things may take, and what happens then: report, interrupt or end.")),
  persist_session: z
    .optional(flag())
    .check(z.describe("Whether Reeve keeps everything about it in its directory: logs, model traffic, terminal.")),
  capture: z
    .optional(oneOf(REQUESTED_CAPTURES))
    .check(z.describe("With `persist_session`: how the model traffic is captured, by the agent itself or by a proxy.")),
  debug_log: z
    .optional(plain("a path"))
    .check(z.describe("With `persist_session`: where the agent's own log goes, relative to the session's directory.")),
  contact: z
    .optional(plain("text", 255))
    .check(z.describe("Whom to ask about it: a name, an address, a channel. Shown with it.")),
};

export const DEFAULT_KEYS = shared;

export const SESSION_KEYS = {
  id: word().check(z.refine(isFreeName, FREE_NAME), z.describe("Its name, which no other session has. Required.")),
  ...shared,
  command: z
    .optional(listOf("a list: a program and its arguments").check(z.minLength(1, "a list that begins with a program")))
    .check(z.describe('With agent = "command": the program to run, and its arguments.')),
  prompt: z.optional(plain("text", LONGEST_TEXT)).check(z.describe("What to say to the agent first.")),
  goal: z.optional(plain("text", LONGEST_TEXT)).check(z.describe("Another word for `prompt`; give one of the two.")),
};

const SERVICE_URL = "an address that begins with http://, https:// or tcp:// (with a port)";
export const SERVICE_KEYS = {
  name: word().check(z.describe("Its name.")),
  url: z
    .string(SERVICE_URL)
    .check(
      z.refine(isServiceAddress, SERVICE_URL),
      z.describe("Where it answers, such as `http://localhost:8000/health`."),
    ),
};

export const WORK_KEYS = {
  verify: z
    .optional(listOf("a list: a program and its arguments").check(z.minLength(1, "a list that begins with a program")))
    .check(z.describe("The command that says whether work is done: it exits with 0.")),
};

const defaultsSchema = z.strictObject(DEFAULT_KEYS, "a table, [defaults]");
const sessionSchema = z.strictObject(SESSION_KEYS, "a table, [[sessions]]");
const serviceSchema = z.strictObject(SERVICE_KEYS, "a table, [[services]]");
const workSchema = z.strictObject(WORK_KEYS, "a table, [work]");

export const MANIFEST = z.strictObject({
  defaults: z.optional(defaultsSchema).check(z.describe("What holds for every session that does not say otherwise.")),
  sessions: z
    .optional(z.array(sessionSchema, "tables, [[sessions]]"))
    .check(z.describe("The sessions that should run, in the order in which they are started.")),
  services: z
    .optional(z.array(serviceSchema, "tables, [[services]]"))
    .check(z.describe("What the sessions need beside their files.")),
  work: z.optional(workSchema).check(z.describe("How work is checked.")),
});

export type ManifestFile = z.infer<typeof MANIFEST>;
export type SessionTable = z.infer<typeof sessionSchema>;
export type DefaultsTable = z.infer<typeof defaultsSchema>;
export type Service = z.infer<typeof serviceSchema>;

/** For editors: what may stand in a manifest. */
export function manifestJsonSchema(): object {
  const { $schema, ...schema } = z.toJSONSchema(MANIFEST, { io: "input", unrepresentable: "any" });
  return { $schema, title: "A manifest of Reeve (reeve.toml)", ...schema };
}

/** Of a service that can be tried. */
export function isServiceAddress(given: string): boolean {
  if (!URL.canParse(given)) return false;
  const { protocol, hostname, port, username, password } = new URL(given);
  if (hostname === "" || username !== "" || password !== "") return false;
  return protocol === "tcp:" ? port !== "" : protocol === "http:" || protocol === "https:";
}
