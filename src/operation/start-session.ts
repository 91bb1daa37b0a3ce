/** Starts a session: checks everything before it records anything, and records it before it does anything. */
import { rmdirSync } from "node:fs";
import * as z from "zod/mini";
import { requireRoom } from "../platform/disk-room.ts";
import { ensurePrivateDir } from "../platform/private-dir.ts";
import { sessionDir } from "../platform/home.ts";
import { ReeveError } from "../platform/reeve-error.ts";
import { isAsk } from "../session/ask.ts";
import { FREE_NAME, isFreeName, SESSION_ID_PATTERN } from "../session/session-id.ts";
import { isEnded } from "../session/session.ts";
import { DEFAULT_HOLD_MS } from "../session/stay.ts";
import type { Session } from "../session/session.ts";
import type { Store } from "../store/contract.ts";
import { holdsSecret } from "../supervisor/launch/concealed-text.ts";
import { chosenRestartPolicy, POLICY_SOURCES } from "../supervisor/launch/chosen-restart-policy.ts";
import { secretsOfLaunch } from "../supervisor/launch/environment.ts";
import type { MadeWorktree } from "../supervisor/worktree/making.ts";
import type { OperationContext } from "./contract.ts";
import { branchPolicy } from "./branch-view.ts";
import { containerInput } from "./container-view.ts";
import { broughtBy } from "./caller-environment.ts";
import { defineOperation } from "./contract.ts";
import { cursor, environment as environmentSchema, plainText, restartPolicySchema, made } from "./field.ts";
import { withinFamily } from "./family.ts";
import { idempotent } from "./idempotency.ts";
import type { RecordFor } from "./idempotency.ts";
import { armed, notificationsSchema, reasonsSchema, viewNotifications } from "./notifications-view.ts";
import { claimingManifest, manifestInput } from "./manifest-claim.ts";
import { holdReason } from "./hold-session.ts";
import { checkedCheckout, claimingCheckout } from "./start-branch.ts";
import { requireAdoptable, requireBegun } from "./start-conversation.ts";
import { prepareLaunch, requireExecutable } from "./start-launch.ts";
import { sessionViewSchema, viewSession } from "./session-view.ts";
import { settled } from "./settled.ts";
import { persistenceInput } from "./persistence-view.ts";
import { timeOutsInput, timeOutsOfInput } from "./time-outs-view.ts";
import { checkoutInput, inCheckout, madeWorktreeSchema, type StartPlace, viewMade } from "./start-checkout.ts";
import { requireGivable, withWork } from "./start-work.ts";
import { workReference } from "./work-reference.ts";

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
  input: () =>
    z.object({
      agent: z.optional(
        word(
          "What to run: codex, claude, gemini, command, or an agent of your settings. A work item may say it instead.",
        ),
      ),
      args: z
        ._default(z.array(plainText()).check(z.maxLength(1_000)), [])
        .check(z.describe("Arguments for the agent; for `command` the whole command line.")),
      prompt: z
        .optional(z.string().check(z.minLength(1, "some text, or be left out")))
        .check(z.describe("What to say to the agent first.")),
      resume: z
        .optional(plainText().check(z.minLength(1, "an id"), z.maxLength(200)))
        .check(z.describe("Continue this conversation (the agent's own id of it) instead of beginning a new one.")),
      name: z.optional(
        word("Its name; without one it is called after its agent, with a number.").check(
          z.refine(isFreeName, FREE_NAME),
        ),
      ),
      role: z.optional(
        word("What it is for, in a word of your choice; its files are kept under it. By default `agent`."),
      ),
      cwd: z.optional(plainText()).check(z.describe("The directory to start it in. A work item may say it instead.")),
      branch: z
        .optional(plainText().check(z.minLength(1, "the name of a branch, or be left out"), z.maxLength(255)))
        .check(
          z.describe(
            "The git branch that `cwd` must be on, from the start to the end. The session has the checkout for itself. With `worktree`: the branch of the worktree.",
          ),
        ),
      branch_policy: z
        .optional(branchPolicy)
        .check(
          z.describe(
            "What happens if another branch is checked out later. warn: Reeve reports it. pause: it also pauses the session. error: it gives the session no messages. By default what the settings say, which is warn.",
          ),
        ),
      allow_shared_checkout: z
        ._default(z.boolean(), false)
        .check(z.describe("Start it although another session works in the same git checkout.")),
      ...checkoutInput,
      work: z
        .optional(workReference)
        .check(
          z.describe(
            "The item of work that it is given. What you leave out of agent, role, branch, `cwd` and prompt comes from the item.",
          ),
        ),
      pooled: z
        ._default(z.boolean(), false)
        .check(
          z.describe(
            "For `reeve work run`: it may be given further items of work when it is free, and is ended when there are none for it.",
          ),
        ),
      runtime: z.optional(
        word("Where to run it: tmux or docker. By default what config.toml says for its role, else tmux."),
      ),
      ...containerInput,
      model: z.optional(plainText().check(z.maxLength(255))).check(z.describe("The model, as the agent calls it.")),
      mcp: z
        ._default(z.boolean(), true)
        .check(z.describe("Whether the agent gets Reeve's MCP server, with which it can start sessions of its own.")),
      restart: z.optional(
        restartPolicySchema(
          "Whether to start it again when its process ends by itself; by default what config.toml says for its role or agent, else never.",
        ),
      ),
      timeouts: z.optional(timeOutsInput),
      ...persistenceInput,
      hold: z
        .optional(holdReason)
        .check(z.describe("Hold it from the start, with this reason: see `hold_session`. For 24 hours.")),
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
      key_files: z
        ._default(z.record(variableName, plainText()), {})
        .check(
          z.describe("Further variables, each with the file that holds its value and nothing else; relative to `cwd`."),
        ),
      ...manifestInput,
      until: z
        ._default(z.enum(["recorded", "created"]), "recorded")
        .check(
          z.describe(
            "When to answer. recorded: as soon as it is durable. created: once its process has the environment; if the daemon dies before that, repeat the request with the same Idempotency-Key.",
          ),
        ),
    }),
  output: () =>
    z
      .extend(made(sessionViewSchema), {
        cursor: cursor("Pass it to `wait_for_session` as `since` to wait for the outcome of this start."),
        notifications: notificationsSchema.check(z.describe("Who is woken for this session, for what, and how.")),
        restart_policy_from: z
          .enum(POLICY_SOURCES)
          .check(
            z.describe(
              "Where its restart policy comes from: this start, its role or its agent in config.toml, or nowhere (never).",
            ),
          ),
        made_worktree: z
          .nullable(madeWorktreeSchema)
          .check(
            z.describe("The worktree that it was started in; null where it works in the directory that was given."),
          ),
      })
      .register(z.globalRegistry, {
        id: "StartedSession",
        description: "A session, and where in the log its start is.",
      }),

  async run(asked, context) {
    const { supervisor, store, caller } = context;
    const { input, item } = await withWork(context, asked);
    const timeOuts = timeOutsOfInput(input.timeouts);
    const brought = await broughtBy(caller, input.environment, context);
    let made: MadeWorktree | null = null;
    const start = async (record: RecordFor): Promise<string> => {
      if (item !== null) await requireGivable(context, item, input);
      return await inCheckout(context, input, { brought, record, label: () => freeName(store, input.agent) }, (place) =>
        startIn(place, record),
      );
    };
    const startIn = async (place: StartPlace, record: RecordFor): Promise<string> => {
      ({ made } = place);
      // What a session starts is its own.
      const parentId = input.parent ?? (caller.kind === "session" ? caller.id : null);
      const notify = armed(context, parentId, input.notify);
      const { id } = place;
      const outputsDir = sessionDir(context.outputsDir, input.role, id);
      const prepared = await prepareLaunch(context, input, { cwd: place.cwd, brought, sessionDir: outputsDir });
      const { runtime, agent, files, launch, environment } = prepared;
      const branch = made?.worktree.branch ?? input.branch;
      const checkout = await checkedCheckout(context, files, launch, { ...input, branch });
      const planWith = (prompt: string | null) =>
        supervisor.plan({
          agent: input.agent,
          runtime,
          sessionId: id,
          role: input.role,
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
      const planned = isSecret ? await planWith(null) : asAsked;
      const isSent = isSecret || planned.plan.isPromptLeftOut;
      await requireExecutable(prepared, planned);
      requireRoom(context.outputsDir);
      ensurePrivateDir(outputsDir);
      const request = {
        id,
        role: input.role,
        agent: input.agent,
        hasTurns: agent.capabilities.turns,
        runtime,
        launch: isSent ? { ...launch, prompt: null } : launch,
        restartPolicy: chosenRestartPolicy(input, supervisor.settings).policy,
        parentId,
        notify,
        pooled: input.pooled,
        outputsDir,
        branch: branch ?? null,
        manifest: input.manifest ?? null,
        checkout: { ...checkout, worktree: made?.worktree.path ?? null },
        timeOuts,
        hold: input.hold === undefined ? null : { reason: input.hold, forMs: DEFAULT_HOLD_MS },
        ...planned.recorded,
      };
      const wish = { caller, idempotency: record(id), workId: item?.id };
      try {
        const begin = async (name: string): Promise<void> => {
          const claim = { id, name, branch: request.branch };
          const sent = isSent && launch.prompt !== null ? { firstMessage: launch.prompt } : {};
          await claimingCheckout(context, checkout, claim, () =>
            supervisor.start({ ...request, name }, environment, { ...wish, ...sent }),
          );
        };
        await withinFamily(context, parentId, () => named(store, input, begin));
      } catch (error) {
        removeEmptyDir(outputsDir);
        throw error;
      }
      return id;
    };
    const bringAgain = (id: string): void => {
      const { envFile = null, keyFiles = {} } = store.registry.get(id)?.identity.launch ?? {};
      supervisor.bringAgain(id, { caller: brought, envFile, keyFiles, given: input.env });
    };
    const once = (record: RecordFor): Promise<string> =>
      claimingManifest(context, input.manifest, () => start(record), bringAgain);
    const id = await idempotent(context, "start_session", once, bringAgain);
    const isOver = (session: Session): boolean => isTried(session) || supervisor.about(session).parked !== null;
    if (input.until === "created") await settled(context, id, isOver, CREATED_WITHIN_MS);
    return {
      ...(await answer(context, id, made)),
      restart_policy_from: chosenRestartPolicy(input, supervisor.settings).from,
    };
  },
});

/** A process is created within 20 ms, some times that on a busy machine; a runtime that hangs holds up no answer. */
const CREATED_WITHIN_MS = 3_000;

function isTried({ state, process: { createFailures } }: Session): boolean {
  return state !== "starting" || createFailures !== null;
}

async function answer(context: OperationContext, id: string, made: MadeWorktree | null) {
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
  const madeWorktree = await viewMade(context, session, made);
  return { ...viewSession(session, supervisor.about(session)), cursor, notifications, made_worktree: madeWorktree };
}

/** What the start was committed with: planned, starting, held if it is, its first message and its item of work if it has them. */
const FIRST_EVENTS = 5;

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
