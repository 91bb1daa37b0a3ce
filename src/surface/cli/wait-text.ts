/** The outcome of a wait as text, as an object and as an exit status. */
import type { OutputOf, SessionView } from "../../client/operation-types.ts";
import { systemClock } from "../../platform/clock.ts";
import { answerInWords } from "./answer.ts";
import type { CliContext } from "./command.ts";
import { statusOfWait } from "./exit-codes.ts";
import { LOOK_AGAIN_MS, WRITTEN_WITHIN_MS } from "./reply.ts";
import { infoOf, oneLine } from "./session-text.ts";

export type Waited = OutputOf<"waitForSession">;

export async function reportWait(context: CliContext, waited: Waited, mode: "any" | "all" = "any"): Promise<number> {
  if (waited.reason === "timeout" && !context.isJson) context.output.note(timedOut(waited));
  const sessions = context.isJson ? [] : await sessionsOf(context, waited);
  answerInWords(context, waited, () => wakeLines(waited, sessions));
  if (mode === "any" || waited.reason === "timeout") return statusOfWait(waited);
  return statusOfWait(waited.woken.find(({ ok }) => !ok) ?? { ok: true, reason: waited.reason });
}

/**
 * Of all that woke, because a person wants to know what each of them asks or said; the answer itself holds one. What an
 * agent said last may be written down a moment after it told that it is done.
 */
async function sessionsOf(context: CliContext, { woken, session }: Waited): Promise<readonly SessionView[]> {
  const endsAt = systemClock.monotonic() + WRITTEN_WITHIN_MS;
  const completed = new Set(woken.filter(({ reason }) => reason === "turn-completed").map(({ session_id: id }) => id));
  const isUnwritten = ({ session_id: id, headline, observability }: SessionView): boolean =>
    completed.has(id) && headline === "" && observability.status !== "lost" && observability.transcript_path !== null;
  let sessions: readonly SessionView[] = woken.length < 2 ? [session] : await listed(context);
  while (sessions.some(isUnwritten) && systemClock.monotonic() < endsAt) {
    await systemClock.sleep(LOOK_AGAIN_MS);
    sessions = await listed(context);
  }
  return sessions;
}

async function listed(context: CliContext): Promise<readonly SessionView[]> {
  return (await context.client().listSessions({ all: true })).sessions;
}

export function timedOut({ cursor, session }: Pick<Waited, "cursor" | "session">): string {
  const parked = session.need === "parked" ? ` ${oneLine(session.name)}: ${session.headline}` : "";
  return `Nothing happened in time; to wait on from here: --since ${cursor}.${parked}`;
}

export function wakeLines(waited: Waited, sessions: readonly SessionView[] = [waited.session]): string {
  return waited.woken
    .map((wake) => `${oneLine(wake.name)}: ${wake.reason}. ${aboutWake(wake, sessions)}`.trimEnd())
    .map((line) => `${line}\n`)
    .join("");
}

function aboutWake({ session_id: id, why }: Waited["woken"][number], sessions: readonly SessionView[]): string {
  if (why !== null) return oneLine(why);
  const session = sessions.find(({ session_id }) => session_id === id);
  return session === undefined ? "" : infoOf(session);
}
