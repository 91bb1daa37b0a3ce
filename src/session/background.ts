/**
 * What an agent left working beside its turns: subagents, and commands that it
 * put into the background. A turn is over when the agent has answered and
 * everything that it started has ended; until then it stays open.
 *
 * A subagent always ends. A command may be a server that never ends, so it
 * holds only the turn that started it, and only for a while
 * (supervisor/attention/background-watch.ts). It is still shown after that.
 */
import { amend } from "./amend.ts";
import { isOldNews } from "./apply-turn.ts";
import type { Reading } from "./reading.ts";
import type { BackgroundTask, Session } from "./session.ts";

export type BackgroundReading =
  /** All there is. */
  | { readonly running: readonly Omit<BackgroundTask, "holds">[] }
  | { readonly started: Omit<BackgroundTask, "holds"> }
  | { readonly ended: readonly string[] }
  /** They work on, and are waited for no longer. */
  | { readonly released: readonly string[] };

export function worksInBackground({ conversation }: Pick<Session, "conversation">): boolean {
  return conversation.background.some(({ holds }) => holds);
}

/** The agent itself has answered: what it left working is all that goes on, and it would take a message now. */
export function isBackgroundOnly(session: Session): boolean {
  const { conversation } = session;
  const hasAnswered = !conversation.turnOpen || conversation.lastTurn?.isEnding === true;
  return conversation.activity.status === "working" && hasAnswered && worksInBackground(session);
}

export function applyBackground(session: Session, reading: Reading): Session {
  if (session.process.exit !== null) return session;
  const background = backgroundAfter(session, reading);
  return isSame(background, session.conversation.background)
    ? session
    : amend(session, { conversation: { background } });
}

/** What works in the background when the reading has counted. */
export function backgroundAfter(session: Session, { background: told, turn }: Reading): readonly BackgroundTask[] {
  const before = told === undefined ? session.conversation.background : listed(session.conversation.background, told);
  const isNextTurn = turn?.phase === "started" && turn.continues !== true && !isOldNews(session, turn);
  return isNextTurn ? before.map((task) => (task.kind === "command" ? { ...task, holds: false } : task)) : before;
}

function listed(known: readonly BackgroundTask[], told: BackgroundReading): readonly BackgroundTask[] {
  if ("running" in told)
    return told.running.map((task) => ({ ...task, holds: known.find(({ id }) => id === task.id)?.holds ?? true }));
  if ("ended" in told) return known.filter(({ id }) => !told.ended.includes(id));
  if ("released" in told)
    return known.map((task) => (told.released.includes(task.id) ? { ...task, holds: false } : task));
  return known.some(({ id }) => id === told.started.id) ? known : [...known, { ...told.started, holds: true }];
}

function isSame(one: readonly BackgroundTask[], other: readonly BackgroundTask[]): boolean {
  return (
    one.length === other.length &&
    one.every(({ id, title, holds }, index) => {
      const same = other[index];
      return same?.id === id && same.title === title && same.holds === holds;
    })
  );
}

/** `npm test; subagent: review`, for people. */
export function backgroundText(background: readonly Pick<BackgroundTask, "kind" | "title">[]): string {
  return background.map(({ kind, title }) => (kind === "subagent" ? `subagent: ${title}` : title)).join("; ");
}
