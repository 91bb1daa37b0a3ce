import * as z from "zod/mini";
import { requireExecutableSize } from "../platform/exec-size.ts";
import { ReeveError } from "../platform/reeve-error.ts";
import { NEW_CONVERSATION, newConversationSentence } from "../session/new-conversation.ts";
import type { Session } from "../session/session.ts";
import type { EnvironmentFiles } from "../supervisor/launch/environment.ts";
import { until } from "../supervisor/ledger/until.ts";
import type { OperationContext } from "./contract.ts";
import { defineOperation } from "./contract.ts";
import { environment as environmentSchema, seconds } from "./field.ts";
import { againInFamily } from "./family.ts";
import { readScreen } from "./get-session-data.ts";
import { graceMsOf } from "./grace.ts";
import { carryOut, lifecycleOutput } from "./lifecycle.ts";
import { requireReady } from "./require-ready.ts";
import { resolveSession, sessionReference } from "./session-reference.ts";
import { viewSession } from "./session-view.ts";

/** Beyond the grace: killing, proving and starting again. */
const MARGIN_MS = 15_000;
/** For an agent to show that it is up: gemini 0.61.0 took 20 s on a very busy machine. */
const COMES_UP_SECONDS = 45;
/** A command says nothing of itself; what is broken ends within this, as a rule. */
const MOMENT_MS = 500;
/** For what a dead process left to be ended, so that its last screen is there to be shown. */
const RESIDUE_MS = 5_000;

export const restartSession = defineOperation({
  name: "restart_session",
  summary:
    "Stop a session's processes and start it again, in the same conversation where the agent can. Fails when it does not come up.",
  method: "POST",
  path: "/v1/sessions/{session}/restart",
  effect: "change",
  callers: { operator: "any", session: "descendants" },
  example: { session: "fix" },
  names: ["session"],
  input: () =>
    z.object({
      session: sessionReference,
      grace_seconds: z
        .optional(seconds(3_600))
        .check(z.describe("How long its processes may take to end by themselves before they are killed.")),
      timeout_seconds: z
        ._default(seconds(3_600), COMES_UP_SECONDS)
        .check(z.describe("How long to wait for an agent to show that it is up before answering `done: false`.")),
      if_gone: z
        ._default(z.boolean(), false)
        .check(z.describe("Only if its process is gone: one that runs is left alone, which counts as done.")),
      environment: z.optional(environmentSchema).check(
        z.meta({
          description: "Your environment. It is used only where the one that the session was started with is gone.",
          writeOnly: true,
        }),
      ),
    }),
  output: () => lifecycleOutput,

  async run(input, context) {
    const { store, supervisor } = context;
    const before = resolveSession(store.registry, input.session);
    // What could not be started again is not stopped either.
    supervisor.requireUnimpeded(before);
    supervisor.requireStartable(before.identity.agent, before.identity.runtime);
    await requireReady(supervisor.runtime(before.identity.runtime));
    const graceMs = graceMsOf(context, before, input.grace_seconds);
    const environment =
      input.environment === undefined || before.identity.launch.envNames.length > 0
        ? undefined
        : supervisor.environment({ ...filesOf(before), caller: input.environment, given: {} });
    if (environment !== undefined) requireExecutableSize({ argv: [], environment });
    const waits = (session: Session): boolean =>
      session.state === "starting" && supervisor.about(session).parked !== null;
    const outcome = await carryOut(context, {
      operation: "restart_session",
      session: before.id,
      command: { type: "restart", graceMs, ifGone: input.if_gone },
      submitting: (submit) => againInFamily(context, store.registry.get(before.id) ?? before, submit),
      ...(environment === undefined ? {} : { environment }),
      isFact: (session) => session.wish.stop === null && (session.state !== "starting" || waits(session)),
      timeoutMs: graceMs + MARGIN_MS,
    });
    const started = store.registry.get(before.id);
    if (!outcome.done || started === undefined) return outcome;
    if (waits(started)) return { ...outcome, done: false, note: outcome.session.parked?.reason ?? null };
    requireStarted(started);
    const isUp = await comesUp(context, started, input.timeout_seconds * 1_000);
    const now = store.registry.get(before.id) ?? started;
    const session = viewSession(now, supervisor.about(now));
    return {
      done: isUp,
      session,
      note: isUp ? noteOf(before, now) : "It runs, but has not shown yet that it is ready.",
    };
  },
});

function filesOf({ identity: { launch } }: Session): EnvironmentFiles {
  return { envFile: launch.envFile, keyFiles: launch.keyFiles };
}

/** It was stopped, and could not be started again: whoever asked must not take that for done. */
function requireStarted(session: Session): void {
  if (session.state !== "error" || session.process.place !== null) return;
  throw new ReeveError({
    code: session.reason.code,
    kind: "conflict",
    message: session.reason.text,
    details: { session_id: session.id },
  });
}

/** True: it spoke or drew its screen, a command lives after a moment, or it ended well. False: nothing was seen in time. */
async function comesUp(context: OperationContext, started: Session, timeoutMs: number): Promise<boolean> {
  const { store, supervisor } = context;
  const hasSpoken = new AbortController();
  if (started.identity.hasTurns) void supervisor.firstWord(started).then(() => hasSpoken.abort());
  const signal = AbortSignal.any([context.signal, hasSpoken.signal]);
  let dead: Session | undefined;
  const isOver = (): boolean => {
    const session = store.registry.get(started.id);
    if (session?.process.exit !== null && session?.process.incarnation === started.process.incarnation) dead = session;
    return dead !== undefined || session?.process.incarnation !== started.process.incarnation || hasSaid(session);
  };
  await until({ ...context, signal }, isOver, started.identity.hasTurns ? timeoutMs : MOMENT_MS);
  // Its first word may be what it dies of.
  if (hasSpoken.signal.aborted) await until(context, isOver, MOMENT_MS);
  if (dead === undefined) return !started.identity.hasTurns || hasSpoken.signal.aborted || isOver();
  if (dead.process.exit?.code === 0) return true;
  throw await didNotComeUp(context, dead);
}

/** Its activity is known from more than the start itself. */
function hasSaid({ identity: { hasTurns }, conversation: { activity } }: Session): boolean {
  return hasTurns && activity.status !== "starting";
}

async function didNotComeUp(context: OperationContext, dead: Session): Promise<ReeveError> {
  const { store } = context;
  const isSwept = (): boolean => store.registry.get(dead.id)?.wish.stop === null;
  await until(context, isSwept, RESIDUE_MS);
  const { text } = await readScreen(context, dead);
  const lines = text.split("\n").filter((line) => line.trim() !== "");
  const words = lines.slice(-LAST_LINES).join("\n").slice(-LAST_CHARACTERS).trim();
  return new ReeveError({
    code: "did-not-come-up",
    kind: "conflict",
    message: `Session ${dead.identity.name} was started again and did not come up. ${dead.reason.text}${words === "" ? "" : ` Last on its screen: ${words}`}`,
    details: {
      session_id: dead.id,
      exit_code: dead.process.exit?.code ?? null,
      signal: dead.process.exit?.signal ?? null,
    },
  });
}

const LAST_LINES = 5;
const LAST_CHARACTERS = 600;

function noteOf(before: Session, now: Session): string | null {
  if (now.reason.code === NEW_CONVERSATION) return newConversationSentence(before);
  if (
    before.conversation.turns === 0 ||
    before.conversation.nativeId === null ||
    now.conversation.nativeId === before.conversation.nativeId
  )
    return null;
  return newConversationSentence(before);
}
