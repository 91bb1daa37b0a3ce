/** Starts a session: checks everything before it records anything, and records it before it does anything. */
import { rmdirSync } from "node:fs";
import { resolve } from "node:path";
import * as z from "zod/mini";
import type { Agent, LaunchPlan } from "../agent/contract.ts";
import { requireRoom } from "../platform/disk-room.ts";
import { ensurePrivateDir } from "../platform/private-dir.ts";
import { sessionDir } from "../platform/home.ts";
import { newSessionId } from "../platform/ids.ts";
import { ReeveError } from "../platform/reeve-error.ts";
import { isAsk } from "../session/ask.ts";
import { requireTypeable } from "../session/message-text.ts";
import { SESSION_ID_PATTERN } from "../session/session-id.ts";
import { isEnded } from "../session/session.ts";
import type { SessionFiles } from "../runtime/session-files.ts";
import type { Launch, Session } from "../session/session.ts";
import type { Store } from "../store/contract.ts";
import { holdsSecret } from "../supervisor/launch/concealed-text.ts";
import { secretsOfLaunch } from "../supervisor/launch/environment.ts";
import type { OperationContext } from "./contract.ts";
import { broughtBy } from "./caller-environment.ts";
import { defineOperation } from "./contract.ts";
import { cursor, environment as environmentSchema, plainText } from "./field.ts";
import { withinFamily } from "./family.ts";
import { idempotent } from "./idempotency.ts";
import type { RecordFor } from "./idempotency.ts";
import { armed, notificationsSchema, reasonsSchema, viewNotifications } from "./notifications-view.ts";
import { requireReady } from "./require-ready.ts";
import { sessionViewSchema, viewSession } from "./session-view.ts";
import { settled } from "./settled.ts";

const word = (description: string) =>
  z
    .string()
    .check(
      z.regex(SESSION_ID_PATTERN, "made of lower-case letters, digits and dashes, at most 64"),
      z.describe(description),
    );
const variableName = z
  .string()
  .check(z.regex(/^[A-Za-z_][A-Za-z0-9_]*$/, "the name of a variable: letters, digits and underscores"));

export const startSession = defineOperation({
  name: "start_session",
  summary: "Start a session. Answers as soon as it is durably recorded; the session is listed from then on.",
  method: "POST",
  path: "/v1/sessions",
  effect: "change",
  callers: { operator: "any", session: "descendants" },
  example: {
    agent: "command",
    args: ["make", "test"],
    cwd: "/home/me/project",
    name: "build",
    environment: { PATH: "/usr/bin:/bin" },
  },
  names: ["parent"],
  input: z.object({
    agent: word("What to run: codex, claude, gemini, command, or an agent of your settings."),
    args: z
      ._default(z.array(plainText()).check(z.maxLength(1_000)), [])
      .check(z.describe("Arguments for the agent; for `command` the whole command line.")),
    prompt: z
      .optional(z.string().check(z.minLength(1, "some text, or be left out")))
      .check(z.describe("What to say to the agent first.")),
    resume: z
      .optional(plainText().check(z.minLength(1, "an id"), z.maxLength(200)))
      .check(z.describe("Continue this conversation (the agent's own id of it) instead of beginning a new one.")),
    name: z.optional(word("Its name; without one it is called after its agent, with a number.")),
    role: z._default(word("What it is for, in a word of your choice; its files are kept under it."), "agent"),
    cwd: plainText().check(z.describe("The directory to start it in.")),
    branch: z
      .optional(plainText().check(z.maxLength(255)))
      .check(z.describe("The git branch that `cwd` must be on; the start is refused if it is on another.")),
    runtime: z.optional(word("Where to run it; by default in tmux.")),
    model: z.optional(plainText().check(z.maxLength(255))).check(z.describe("The model, as the agent calls it.")),
    mcp: z
      ._default(z.boolean(), true)
      .check(z.describe("Whether the agent gets Reeve's MCP server, with which it can start sessions of its own.")),
    restart: z
      ._default(z.enum(["never", "on-failure", "always"]), "never")
      .check(z.describe("Whether to start it again when its process ends by itself.")),
    parent: z.optional(word("The session that it belongs to; by default the one that calls, if a session does.")),
    notify: z
      .optional(reasonsSchema)
      .check(
        z.describe(
          "What the parent is woken for, if that is a session: by default everything that ends a wait; an empty list for nothing.",
        ),
      ),
    environment: z._default(environmentSchema, {}).check(
      z.meta({
        description:
          "Your whole environment; the session gets it. If a session calls, what its own process has is added. It is handed to the runtime and not stored.",
        writeOnly: true,
      }),
    ),
    env: z._default(z.record(variableName, plainText()), {}).check(
      z.meta({
        description: "Further variables. Their values are not stored, and are taken out of what Reeve records.",
        writeOnly: true,
      }),
    ),
    env_file: z
      .optional(plainText())
      .check(z.describe("A file with further variables, a line each; relative to `cwd`.")),
    until: z
      ._default(z.enum(["recorded", "created"]), "recorded")
      .check(
        z.describe(
          "When to answer. recorded: as soon as it is durable. created: once its process has the environment; if the daemon dies before that, repeat the request with the same Idempotency-Key.",
        ),
      ),
  }),
  output: z
    .extend(sessionViewSchema, {
      cursor: cursor("Pass it to `wait_for_session` as `since` to wait for the outcome of this start."),
      notifications: notificationsSchema.check(z.describe("Who is woken for this session, for what, and how.")),
    })
    .register(z.globalRegistry, { id: "StartedSession", description: "A session, and where in the log its start is." }),

  async run(input, context) {
    const { supervisor, store, caller } = context;
    const brought = await broughtBy(caller, input.environment, context);
    const start = async (record: RecordFor): Promise<string> => {
      const runtime = input.runtime ?? supervisor.runtimes()[0]?.kind ?? "none";
      supervisor.requireStartable(input.agent, runtime);
      await requireReady(supervisor.runtime(runtime));
      const agent = supervisor.agent(input.agent);
      // What a session starts is its own.
      const parentId = input.parent ?? (caller.kind === "session" ? caller.id : null);
      const notify = armed(context, parentId, input.notify);
      if (input.prompt !== undefined) requireTypeable(input.prompt);
      const { files } = supervisor.runtime(runtime);
      const cwd = await existingDirectory(files, input.cwd);
      const envFile = input.env_file === undefined ? null : resolve(cwd, input.env_file);
      const environment = supervisor.environment({ caller: brought, envFile, given: input.env });
      const launch: Launch = {
        args: input.args,
        prompt: input.prompt ?? null,
        model: input.model ?? null,
        cwd,
        envFile,
        envNames: Object.keys(input.env),
        mcp: input.mcp,
        paths: pick(environment, ["PATH", "HOME", ...agent.pathVariables]),
      };
      if (input.branch !== undefined) await requireBranch(files, launch, input.branch);
      const id = newSessionId();
      const outputsDir = sessionDir(context.outputsDir, input.role, id);
      const planWith = (prompt: string | null) =>
        supervisor.plan({
          agent: input.agent,
          runtime,
          sessionId: id,
          outputsDir,
          launch: { ...launch, prompt },
          beginning: { resume: resumed, prompt },
        });
      const resumed = input.resume === undefined ? null : { nativeId: input.resume, transcriptPath: null };
      if (resumed !== null) requireAdoptable(store, agent, resumed.nativeId);
      const asAsked = await planWith(launch.prompt);
      if (resumed !== null) await requireBegun(files, agent, asAsked.plan, launch);
      // A prompt with a secret in it stands in no record and no command line: it is sent as the first message.
      const isSecret = launch.prompt !== null && holdsSecret(launch.prompt, secretsOfLaunch(launch, environment));
      const { plan, recorded } = isSecret ? await planWith(null) : asAsked;
      const isSent = isSecret || plan.isPromptLeftOut;
      await requireExecutable(files, plan.argv[0] ?? "", launch);
      requireRoom(context.outputsDir);
      ensurePrivateDir(outputsDir);
      const request = {
        id,
        role: input.role,
        agent: input.agent,
        hasTurns: agent.capabilities.turns,
        runtime,
        launch: isSent ? { ...launch, prompt: null } : launch,
        restartPolicy: input.restart,
        parentId,
        notify,
        outputsDir,
        branch: input.branch ?? null,
        ...recorded,
      };
      const wish = { caller, idempotency: record(id) };
      try {
        await withinFamily(context, () =>
          named(store, input, async (name) => {
            await supervisor.start({ ...request, name }, environment, {
              ...wish,
              ...(isSent && launch.prompt !== null ? { firstMessage: launch.prompt } : {}),
            });
          }),
        );
      } catch (error) {
        removeEmptyDir(outputsDir);
        throw error;
      }
      return id;
    };
    const bringAgain = (id: string): void => {
      const envFile = store.registry.get(id)?.identity.launch.envFile ?? null;
      supervisor.bringAgain(id, { caller: brought, envFile, given: input.env });
    };
    const id = await idempotent(context, "start_session", start, bringAgain);
    if (input.until === "created") await settled(context, id, isTried, CREATED_WITHIN_MS);
    return await answer(context, id);
  },
});

/** One conversation is open in one session: a second would write into the first one's transcript. */
function requireAdoptable(store: Store, agent: Agent, nativeId: string): void {
  if (agent.canAdopt !== true)
    throw new ReeveError({
      code: "cannot-resume",
      kind: "usage",
      message: `The agent ${agent.name} cannot continue a conversation from elsewhere; leave --resume out.`,
    });
  const holder = store.registry
    .all()
    .find(
      ({ identity, conversation, process }) =>
        identity.agent === agent.name && conversation.nativeId === nativeId && process.exit === null,
    );
  if (holder === undefined) return;
  throw new ReeveError({
    code: "conversation-open",
    kind: "conflict",
    message: `This conversation is open in session ${holder.identity.name} already; go there with: reeve attach ${holder.identity.name}.`,
    details: { session_id: holder.id },
  });
}

/** Of agents that keep the conversations of each directory apart: told to resume nothing, they do not come up. */
async function requireBegun(files: SessionFiles, agent: Agent, plan: LaunchPlan, { cwd }: Launch): Promise<void> {
  const { nativeId, transcriptPath } = plan;
  if (agent.holdsMessage === undefined || transcriptPath === null) return;
  if ((await files.stat(transcriptPath))?.isFile === true) return;
  throw new ReeveError({
    code: "unknown-conversation",
    kind: "not-found",
    message: `There is no conversation ${nativeId} of ${agent.name} for ${cwd}; give the directory it was begun in with --cwd, or check the id.`,
  });
}

/** A process is created within 20 ms, some times that on a busy machine; a runtime that hangs holds up no answer. */
const CREATED_WITHIN_MS = 3_000;

function isTried({ state, process: { createFailures } }: Session): boolean {
  return state !== "starting" || createFailures !== null;
}

async function answer(context: OperationContext, id: string) {
  const { store, supervisor } = context;
  const cursor = await startOf(store, id);
  const session = store.registry.get(id);
  if (session === undefined)
    throw new ReeveError({
      code: "internal",
      kind: "internal",
      message: `Session ${id} was recorded but is not there.`,
    });
  const notifications = viewNotifications(context, session);
  return { ...viewSession(session, supervisor.about(session)), cursor, notifications };
}

/** What the start was committed with: planned, starting, and its first message if it has one. */
const FIRST_EVENTS = 3;

/** Where in the log it was asked for, also if this call only repeats that. */
async function startOf({ log }: Store, sessionId: string): Promise<number> {
  const first = await log.read({ after: 0, limit: FIRST_EVENTS, sessionIds: [sessionId] });
  return first.findLast(({ body }) => isAsk(body))?.seq ?? log.head();
}

/** Of a session that was not recorded; one that holds anything stays. */
function removeEmptyDir(path: string): void {
  try {
    rmdirSync(path);
  } catch {
    // An empty directory too many harms nobody.
  }
}

function pick(environment: Readonly<Record<string, string>>, names: readonly string[]): Record<string, string> {
  return Object.fromEntries(names.flatMap((name) => (name in environment ? [[name, environment[name] ?? ""]] : [])));
}

async function existingDirectory(files: SessionFiles, path: string): Promise<string> {
  const cwd = resolve("/", path);
  if ((await files.stat(cwd))?.isDirectory === true) return cwd;
  throw new ReeveError({
    code: "missing-directory",
    kind: "usage",
    message: `The directory ${cwd} does not exist; create it or give another with --cwd.`,
  });
}

async function requireBranch(files: SessionFiles, launch: Launch, declared: string): Promise<void> {
  const { cwd } = launch;
  const actual = await branchOf(files, launch);
  if (actual === declared) return;
  const found = actual === null ? "is not on a branch of a git repository" : `is on branch ${actual}`;
  throw new ReeveError({
    code: "branch-mismatch",
    kind: "conflict",
    message: `${cwd} ${found}, not on ${declared}; check out ${declared} there or change --branch.`,
  });
}

/** Null when it is on none: no repository, no git, or a detached head. */
async function branchOf(files: SessionFiles, { cwd, paths }: Launch): Promise<string | null> {
  const git = await files.findProgram("git", { cwd, path: paths["PATH"] });
  const args = ["-C", cwd, "symbolic-ref", "--quiet", "--short", "HEAD"];
  const said = git === null ? "" : await files.ask(git.path, args, { environment: paths, timeoutMs: GIT_TIMEOUT_MS });
  return said.trim() === "" ? null : said.trim();
}

/** It reads one small file; one that hangs is not waited for. */
const GIT_TIMEOUT_MS = 10_000;

async function requireExecutable(files: SessionFiles, command: string, { cwd, paths }: Launch): Promise<void> {
  if ((await files.findProgram(command, { cwd, path: paths["PATH"] })) !== null) return;
  throw new ReeveError({
    code: "command-not-found",
    kind: "usage",
    message: `There is no program "${command}" to run; check the spelling, or give its full path.`,
  });
}

/**
 * Under the given name, or under the first free `<agent>-<n>`. Whether a name is
 * free is the commit's say: of those who chose the same number at the same time
 * one gets it, and the others choose again.
 */
async function named(
  store: Store,
  { name, agent }: { readonly name?: string | undefined; readonly agent: string },
  start: (name: string) => Promise<void>,
): Promise<void> {
  if (name !== undefined) return await start(name);
  for (;;) {
    try {
      return await start(freeName(store, agent));
    } catch (error) {
      if (!(error instanceof ReeveError) || error.code !== "name-taken") throw error;
    }
  }
}

function freeName(store: Store, agent: string): string {
  const isTaken = (name: string): boolean =>
    store.registry.byName(name).some((session) => !isEnded(session)) || store.registry.get(name) !== undefined;
  for (let number = 1; ; number++) {
    const name = `${agent}-${number}`;
    if (!isTaken(name)) return name;
  }
}
