/** What is done next for a session, and the effects themselves: what each does to the runtime, and the observation it ends in. */
import { dirname } from "node:path";
import type { PlannedFile } from "../../agent/contract.ts";
import { writeFileAtomic } from "../../platform/atomic-file.ts";
import type { Clock } from "../../platform/clock.ts";
import { failpoint } from "../../platform/failpoint.ts";
import type { Log } from "../../platform/log.ts";
import { hashOfPass, PASS_VARIABLE, SOCKET_VARIABLE } from "../../platform/pass.ts";
import { messageOf, ReeveError } from "../../platform/reeve-error.ts";
import { stripTerminal } from "../../platform/terminal-text.ts";
import type { Runtime } from "../../runtime/contract.ts";
import type { Passage } from "../../runtime/passage.ts";
import type { SessionFiles } from "../../runtime/session-files.ts";
import { amend } from "../../session/amend.ts";
import { spentMs } from "../../session/countdown.ts";
import { isStartGivenUp } from "../../session/create-failures.ts";
import { lastLine, lastWords } from "../../session/notice.ts";
import { type Effect, pendingEffect } from "../../session/pending-effect.ts";
import { isPromptAhead } from "../../session/prompt-ahead.ts";
import { finalScreenPath, nativeDirOf, spoolDirOf } from "../../session/session-directory.ts";
import type { Evidence, Session, StopIntent } from "../../session/session.ts";
import type { ChosenTimeOuts } from "../../session/time-out.ts";
import type { AnswerParts } from "./answer.ts";
import { giveAnswer } from "./answer.ts";
import type { Attention } from "../attention/attention.ts";
import type { Adapters } from "../launch/adapters.ts";
import type { BroughtEnvironments } from "../launch/brought-environments.ts";
import { containerEnvironment } from "../launch/container-environment.ts";
import type { Environment, EnvironmentFiles } from "../launch/environment.ts";
import type { Foreign } from "../launch/foreign-agents.ts";
import { launchInside } from "../launch/home-inside.ts";
import type { PlannedLaunch } from "../launch/launcher.ts";
import type { Passes } from "../launch/passes.ts";
import { sharedDirectories } from "../launch/shared-directories.ts";
import type { Delivery } from "./delivery.ts";
import type { Task } from "./effect-runner.ts";
import { requireCheckout } from "./launch-checkout.ts";
import { requireConversation } from "./require-conversation.ts";
import { removeSocketFiles } from "./socket-files.ts";
import { targetOf } from "../ledger/target.ts";
import { stopTurn } from "./interruption.ts";

/** Lines of scrollback kept of an ended session. */
const FINAL_SCREEN_LINES = 2_000;

/** An end that waits for a first prompt to be taken is looked at again, for the case that it never is. */
const HELD_END_LOOK_MS = 1_000;

export interface EffectParts extends AnswerParts {
  readonly log: Log;
  /** How its agent wants to be started now. */
  readonly launch: (session: Session) => Promise<PlannedLaunch>;
  /** Agents that Reeve did not start, where this session lives. */
  readonly foreignIn: (session: Session) => Promise<readonly Foreign[]>;
  /** The environments that callers brought along for the next start. */
  readonly brought: BroughtEnvironments;
  readonly passes: Passes;
  /** Where the daemon takes calls from sessions. */
  readonly socketOfSessions: string;
  /** A create that fails for longer than its start may take is given up. */
  readonly timeOuts: (session: Session) => ChosenTimeOuts;
  /** For a start that nobody brought an environment for: the daemon's own. */
  readonly fallbackEnvironment: (files: EnvironmentFiles) => Environment;
  readonly adapters: Pick<Adapters, "agent" | "runtime" | "impedimentOf">;
  readonly attention: Pick<Attention, "channel" | "look" | "prepare" | "readToEnd" | "redact" | "isCaughtUp">;
  readonly delivery: Pick<Delivery, "nextTask">;
  readonly pokeLater: (sessionId: string, ms: number) => void;
  /** The capture proxy, for a session that needs it: that it runs, and that it serves this one. */
  readonly capture: {
    ready(session: Session): Promise<void>;
    serve(session: Session, environment: Environment | null): Promise<void>;
    passage(session: Session): Passage | null;
  };
  /** Nothing may be begun in it before a limit resets. */
  readonly isParked: (session: Session) => boolean;
  /** Whose limits it draws on in this environment. */
  readonly accountIn: (session: Session, environment: Environment) => Promise<string | null>;
}

/** What this session needs next: an effect that its record asks for, else a message that can be given. */
export function nextTask(parts: EffectParts, sessionId: string): Task | null {
  const { store, adapters, attention, clock, delivery, pokeLater } = parts;
  const session = store.registry.get(sessionId);
  if (session === undefined) return null;
  const isParkedStart = session.state === "starting" && parts.isParked(session);
  const isUnwatched = adapters.impedimentOf(session) !== null || isParkedStart;
  const effect = pendingEffect(isUnwatched ? endingNow(session) : session, clock.moment());
  if (session.wish.stop !== null && isPromptAhead(session, clock.moment())) pokeLater(sessionId, HELD_END_LOOK_MS);
  if (effect === null) return delivery.nextTask(session);
  if (effect.kind === "create" && isParkedStart) return null;
  // It may have been answered in the pane while nobody watched; the key would then be pressed at random.
  if ((effect.kind === "answer" || effect.kind === "interrupt") && !attention.isCaughtUp(session)) return null;
  return {
    key: JSON.stringify(effect),
    kind: effect.kind,
    ...(effect.kind === "stop" ? { patienceMs: effect.stop.graceMs } : {}),
    perform: (hurry) => perform(parts, session, effect, hurry),
  };
}

/** Nobody would tell of the end of its turn. */
function endingNow(session: Session): Session {
  const { stop } = session.wish;
  return stop === null ? session : amend(session, { wish: { stop: { ...stop, afterTurn: false } } });
}

function perform(parts: EffectParts, session: Session, effect: Effect, hurry: AbortSignal): Promise<void> {
  switch (effect.kind) {
    case "create":
      return create(parts, session);
    case "suspend":
    case "release":
      return suspendOrRelease(parts, session, effect.kind);
    case "stop":
      return stop(parts, session, effect.stop, hurry);
    case "answer":
      return giveAnswer(parts, session, effect.approvalId);
    case "interrupt":
      return stopTurn(parts, session);
  }
}

async function create(parts: EffectParts, session: Session): Promise<void> {
  const { identity } = session;
  const { ledger } = parts;
  const runtime = parts.adapters.runtime(identity.runtime);
  const target = targetOf(session);
  const { incarnation } = session.process;
  const { launch: launched } = identity;
  const { container } = launched;
  const agent = parts.adapters.agent(identity.agent);
  try {
    await requireCheckout(parts, runtime.files, session);
    await parts.capture.ready(session);
    const { plan, recorded, mounts, loginVariables, ...launch } = await parts.launch(session);
    const isAnew = launch.isAnew && incarnation > 1;
    await requireConversation(parts, session, plan);
    const environment = await environmentFor(parts, session, runtime);
    // Its hooks may write there before anybody watches.
    if (identity.hasTurns) await runtime.files.makeDirectory(spoolDirOf(identity.outputsDir));
    if (plan.capture !== undefined && writesItself(identity.launch))
      await runtime.files.makeDirectory(nativeDirOf(identity.outputsDir));
    // Else the engine would make them, as its own user.
    for (const { target: path } of mounts) await runtime.files.makeDirectory(dirname(path));
    for (const file of plan.files) await writePlanned(runtime.files, session, file);
    const pass = parts.passes.forStart(session.id, incarnation);
    const account = environment === null ? {} : { account: await parts.accountIn(session, environment) };
    const passHash = hashOfPass(pass);
    const now = await ledger.apply(session.id, { type: "planned", incarnation, plan: recorded, passHash, ...account });
    failpoint("create.planned");
    // It is logged in with another account by now, whose limit is reached.
    if (parts.isParked(now)) return;
    // In a container nobody listens for it.
    const own: Environment =
      container !== null ? {} : { [PASS_VARIABLE]: pass, [SOCKET_VARIABLE]: parts.socketOfSessions };
    parts.attention.prepare(session, environment === null ? null : { ...environment, ...own });
    await parts.capture.serve(now, environment);
    failpoint("create.served");
    const shared = container === null ? [] : await sharedDirectories(runtime.files, session);
    const created = await runtime.create({
      ...target,
      argv: plan.argv,
      cwd: identity.launch.cwd,
      environment:
        environment === null || container === null
          ? environment
          : containerEnvironment(environment, launchInside(launched, identity.outputsDir, agent), loginVariables),
      extraEnvironment: { ...plan.environment, ...own, REEVE_SESSION_ID: session.id },
      label: identity.name,
      ...(container === null
        ? {}
        : {
            container: {
              ...container,
              mounts: [...mounts, ...container.mounts],
              role: identity.role,
              shared,
              passage: parts.capture.passage(now),
            },
          }),
    });
    failpoint("create.after-effect");
    const shown = runtime.describe(created.place);
    const evidence = observed(parts, shown.id === null ? shown.text : `${shown.text} (${shown.id})`);
    await ledger.apply(session.id, { type: "created", incarnation, place: created.place, shown, evidence, isAnew });
  } catch (error) {
    const code = error instanceof ReeveError ? error.code : "internal";
    const evidence = observed(parts, messageOf(error));
    const mayPass = !(error instanceof ReeveError) || error.kind === "unavailable" || error.kind === "internal";
    if (!mayPass || isHopeless(parts, session))
      return void (await ledger.apply(session.id, { type: "create-failed", incarnation, code, evidence }));
    await ledger.apply(session.id, { type: "create-delayed", incarnation, code, evidence });
    throw error;
  }
}

/** Into a directory that only its user can enter. */
function writesItself({ persistence }: Session["identity"]["launch"]): boolean {
  return persistence !== null && (persistence.capture === "native" || persistence.debugLog !== null);
}

function isHopeless({ store, clock, timeOuts }: EffectParts, session: Session): boolean {
  const failures = store.registry.get(session.id)?.process.createFailures ?? null;
  return isStartGivenUp(failures, timeOuts(session).start, clock.moment());
}

/** Only below the session's own directory. */
async function writePlanned(files: SessionFiles, session: Session, file: PlannedFile): Promise<void> {
  const { path } = file;
  if (!path.startsWith(`${session.identity.outputsDir}/`))
    throw new ReeveError({
      code: "internal",
      kind: "conflict",
      message: `The start of this agent would write ${path}, which is not in the session's directory; please report this.`,
    });
  await files.write(file);
}

/** A command whose daemon died repeats itself within a second, more on a busy machine. */
const REPEATED_WITHIN_MS = 3_000;

/**
 * From the caller if one brought it; else what the runtime kept (null). A first
 * start has no other: the daemon's own may hold another person's log-in. One
 * that ran before is started again with the daemon's own, and that is said,
 * if nothing given by hand would be missing.
 */
async function environmentFor(parts: EffectParts, session: Session, runtime: Runtime): Promise<Environment | null> {
  const isFirst = session.process.incarnation === 1;
  const brought = parts.brought.get(session.id);
  if (brought !== null && isFirst) return brought;
  if (await runtime.retainsEnvironment(session.id)) return null;
  if (brought !== null) return brought;
  const repeated = isFirst ? await parts.brought.arrival(session.id, REPEATED_WITHIN_MS) : null;
  if (repeated !== null) return repeated;
  const { envFile, envNames, keyFiles } = session.identity.launch;
  const how = isFirst ? "with the daemon that was to start it" : "with the runtime that held it";
  const gone = (rest: string): ReeveError =>
    new ReeveError({ code: "environment-lost", kind: "conflict", message: `Its environment is gone ${how}${rest}` });
  if (envNames.length > 0)
    throw gone(`, and with it the values of ${envNames.join(", ")}; start the session again with --env.`);
  const own = parts.fallbackEnvironment({ envFile, keyFiles });
  const fallback = isFirst ? { ...own, ...session.identity.launch.paths } : own;
  if (isFirst && !(await isSameLogin(parts, session, fallback)))
    throw gone(`; run \`reeve restart ${session.identity.name}\` in a shell that has that environment.`);
  const files = [...(envFile === null ? [] : [envFile]), ...Object.values(keyFiles)];
  const instead = ["the daemon's own", ...files].join(" and ");
  await parts.ledger.apply(session.id, {
    type: "environment-lost",
    incarnation: session.process.incarnation,
    evidence: observed(parts, `the environment it was started with is gone ${how}; using ${instead}`),
  });
  parts.brought.keep(session, fallback);
  return fallback;
}

/** A start that waited for a limit may outlive the command that brought its environment, and the daemon that had it. */
async function isSameLogin(parts: EffectParts, session: Session, environment: Environment): Promise<boolean> {
  const { account, hasWaited } = session.quota;
  return hasWaited && account !== null && (await parts.accountIn(session, environment)) === account;
}

async function suspendOrRelease(parts: EffectParts, session: Session, kind: "suspend" | "release"): Promise<void> {
  const detail = await parts.adapters.runtime(session.identity.runtime)[kind](targetOf(session));
  failpoint(`${kind}.after-effect`);
  const type = kind === "suspend" ? "suspended" : "released";
  await parts.ledger.apply(session.id, {
    type,
    incarnation: session.process.incarnation,
    evidence: observed(parts, detail),
  });
}

async function stop(parts: EffectParts, session: Session, intent: StopIntent, hurry: AbortSignal): Promise<void> {
  const runtime = parts.adapters.runtime(session.identity.runtime);
  const target = targetOf(session);
  const { incarnation } = session.process;
  if (session.wish.stop?.afterTurn === true) {
    const now = await parts.ledger.apply(session.id, { type: "stop-begun", incarnation });
    // Taken back at the last moment.
    if (now.process.incarnation !== incarnation || now.wish.stop?.next !== intent.next) return;
    failpoint("stop.begun");
  }
  const report = await runtime.stop(target, { graceMs: graceLeft(parts, session, intent), hurry });
  failpoint("stop.after-signals");
  if (report.survivors.length > 0) {
    await parts.ledger.apply(session.id, {
      type: "stop-delayed",
      incarnation,
      evidence: observed(parts, report.evidence),
    });
    throw new Error(`${report.survivors.join(", ")}: still there`);
  }
  const seen = await runtime.observe(target);
  let shown: string | null = null;
  if (seen.status === "unreachable") throw new Error(seen.evidence);
  if (seen.status === "exited") {
    await parts.ledger.apply(session.id, {
      type: "found-exited",
      incarnation,
      code: seen.code,
      signal: seen.signal,
      evidence: observed(parts, seen.evidence),
    });
    shown = await keepFinalScreen(parts, session, runtime);
  }
  await tidyUp(parts, session);
  const isPlaceGone = intent.next === "stopped";
  // Nothing of it is left that could say more; what is read after this is the next incarnation's.
  if (!isPlaceGone) await parts.attention.readToEnd(session);
  if (isPlaceGone) await runtime.destroy(target);
  failpoint("stop.after-effect");
  await parts.ledger.apply(session.id, {
    type: "cleared",
    incarnation,
    isPlaceGone,
    ...(shown === null ? {} : { lastLine: shown }),
    evidence: observed(parts, report.evidence),
  });
}

/** Longer than a commit takes: the time-out of the grace is recorded first, and then hurries the stop. */
const RECORDING_MS = 2_000;

/** What an earlier daemon has waited counts. Where its time-out cannot be recorded, on a full disk say, it ends here. */
function graceLeft({ store, clock }: EffectParts, { id }: Session, { graceMs, next }: StopIntent): number {
  if (graceMs === 0 || next === "rest") return graceMs;
  const countdown = store.registry.get(id)?.timeouts.countdowns.find(({ which }) => which === "stop_grace");
  const spent = countdown === undefined ? 0 : spentMs(countdown, clock.moment());
  return Math.max(0, graceMs - spent) + RECORDING_MS;
}

/** Best effort: what was on the screen is worth keeping, but never worth holding up an end. Its last line, if it may be kept. */
async function keepFinalScreen(parts: EffectParts, session: Session, runtime: Runtime): Promise<string | null> {
  try {
    const screen = await runtime.capture(targetOf(session), { lines: FINAL_SCREEN_LINES });
    const text = await parts.attention.redact(session, screen.text);
    if (text === null) {
      parts.log("the last screen is not kept: Reeve does not know which secrets it may show", { session: session.id });
      return null;
    }
    await writeFileAtomic(finalScreenPath(session), text);
    const shown = stripTerminal(text);
    const hasFailed = (parts.store.registry.get(session.id)?.process.exit?.code ?? 0) !== 0;
    return hasFailed ? lastWords(shown) : lastLine(shown);
  } catch (error) {
    parts.log("the last screen could not be kept", { session: session.id, why: messageOf(error) });
    return null;
  }
}

/** Best effort too. */
async function tidyUp(parts: EffectParts, { id, identity, watch }: Session): Promise<void> {
  try {
    await removeSocketFiles(
      parts.adapters.runtime(identity.runtime).files,
      parts.adapters.agent(identity.agent),
      watch.socket,
    );
  } catch (error) {
    parts.log("what its socket left could not be removed", { session: id, why: messageOf(error) });
  }
}

export function observed(parts: { readonly clock: Clock }, detail: string): Evidence {
  return { source: "runtime", detail, at: parts.clock.now() };
}
