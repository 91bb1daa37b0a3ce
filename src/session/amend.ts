/** Makes a session's record with some of its fields changed. Unchanged sections are shared with the old record. */
import type { SECTIONS, Session } from "./session.ts";

/** Of each section, only what changes. */
export type Amendment = Partial<Omit<Session, keyof typeof SECTIONS>> & {
  readonly [Section in keyof typeof SECTIONS]?: Partial<Session[Section]>;
};

export function amend(session: Session, changes: Amendment): Session {
  const { identity, wish, process, conversation, watch, notice, wakes, checkout, quota, timeouts } = changes;
  return {
    ...session,
    ...changes,
    identity: identity ? { ...session.identity, ...identity } : session.identity,
    wish: wish ? { ...session.wish, ...wish } : session.wish,
    process: process ? { ...session.process, ...process } : session.process,
    conversation: conversation ? { ...session.conversation, ...conversation } : session.conversation,
    watch: watch ? { ...session.watch, ...watch } : session.watch,
    notice: notice ? { ...session.notice, ...notice } : session.notice,
    wakes: wakes ? { ...session.wakes, ...wakes } : session.wakes,
    checkout: checkout ? { ...session.checkout, ...checkout } : session.checkout,
    quota: quota ? { ...session.quota, ...quota } : session.quota,
    timeouts: timeouts ? { ...session.timeouts, ...timeouts } : session.timeouts,
  };
}
