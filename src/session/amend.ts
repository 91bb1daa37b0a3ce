/** A session's record with some of its fields changed. The groups in which nothing changes are shared with the old one. */
import type { GROUPS, Session } from "./session.ts";

/** Of each group, only what changes. */
export type Amendment = Partial<Omit<Session, keyof typeof GROUPS>> & {
  readonly [Group in keyof typeof GROUPS]?: Partial<Session[Group]>;
};

export function amend(session: Session, changes: Amendment): Session {
  const { identity, wish, process, conversation, watch } = changes;
  return {
    ...session,
    ...changes,
    identity: identity ? { ...session.identity, ...identity } : session.identity,
    wish: wish ? { ...session.wish, ...wish } : session.wish,
    process: process ? { ...session.process, ...process } : session.process,
    conversation: conversation ? { ...session.conversation, ...conversation } : session.conversation,
    watch: watch ? { ...session.watch, ...watch } : session.watch,
  };
}
