/**
 * What next_work can answer: the actions, the codes that say why nothing can be
 * done (or what stands in the way of an action), and the form of an answer. The
 * two tables are the only definition: schema, guide and docs/spec/next-work.md
 * are made from them.
 */
import type { WorkChangeType } from "./work-change.ts";

interface Meaning {
  /** When it is the answer. */
  readonly when: string;
  /** What whoever asked does then. */
  readonly todo: string;
}

export const ACTIONS = {
  prepare: {
    when: "The item does not say which agent does it, or in which directory.",
    todo: "Decide that and change the item.",
  },
  dispatch: {
    when: "The item can begin.",
    todo: "Start the worker as `dispatch` says, with the item's id as `work`; the item is then in progress.",
  },
  wait: {
    when: "A worker is at work, is being started, or cannot be reached.",
    todo: "Wait for the sessions in `wait`, then ask again. With `how: notification`, only wait and do not look at the session's data. With `how: monitor`, you may also look.",
  },
  read: {
    when: "The worker has finished its turn.",
    todo: "Read its reply. If the work is done, report `built` with a summary; otherwise send it what is missing.",
  },
  "send-details": {
    when: "The worker asks something, its turn failed, or it has not committed its changes.",
    todo: "Answer the approval in `approval` if the task covers it, or send `message` (or your own answer) to the session.",
  },
  review: {
    when: "The item is built.",
    todo: "Look at what was done, at `commit` if there is one. Then report `approve` or `request-changes` with that commit.",
  },
  fix: {
    when: "Changes were requested, and the worker is free.",
    todo: "Send `message` to the session with the item's id as `work`; the item is then in progress again.",
  },
  finalise: {
    when: "The item is approved, or needs no review.",
    todo: "Merge or deliver what was built, `commit` if there is one. Then report `finalise`.",
  },
  "end-session": {
    when: "The item is finalised, and its worker is idle and works on nothing else.",
    todo: "End the session, then ask again.",
  },
  escalate: {
    when: "Only a person can go on.",
    todo: "Tell the person what `text` says. Meanwhile you may wait for the sessions in `wait`.",
  },
  done: {
    when: "Nothing is left to do for the item.",
    todo: "Report `done` if the item is finalised. One that is done or cancelled needs nothing.",
  },
  none: {
    when: "Nothing can be done now; `code` says why.",
    todo: "Wait for what `text` names, then ask again.",
  },
} as const satisfies Record<string, Meaning>;
export type Action = keyof typeof ACTIONS;
export const ACTION_NAMES = Object.keys(ACTIONS) as readonly Action[];

export const CODES = {
  "nothing-ready": {
    when: "No item is open.",
    todo: "Add items, or stop.",
  },
  "dependencies-unsatisfied": {
    when: "Items that must be done first are still open (none), or failed, were cancelled or do not exist (escalate).",
    todo: "Do those first. With escalate, retry the failed one, or take it off the item's dependencies.",
  },
  "no-agent-available": {
    when: "The item's agent cannot be started here, or as many workers run as may.",
    todo: "Install or log in to the agent, give the item another one, or wait until a worker is free.",
  },
  "parked-by-quota": {
    when: "A usage limit is reached: nothing new is started (none), or the worker goes on by itself after the reset (wait).",
    todo: "Wait until `until`. Neither restart the worker nor send the same message again.",
  },
  "review-limit-reached": {
    when: "Changes were requested three times, and the item is still not right.",
    todo: "A person decides: retry, cancel, or approve it by hand.",
  },
  stale: {
    when: "Nothing was heard from the worker for too long, its process hangs, or Reeve has no record of it.",
    todo: "Look at the session with explain_session and its screen. A person decides whether to interrupt or end it.",
  },
  "uncommitted-changes": {
    when: "Files in the worker's checkout are not committed, so there is no commit to review.",
    todo: "Have the worker commit them (send-details), or let a person decide if it already refused (escalate).",
  },
} as const satisfies Record<string, Meaning>;
export type Code = keyof typeof CODES;
export const CODE_NAMES = Object.keys(CODES) as readonly Code[];

/** notification: only wait_for_session tells; do not look for its data meanwhile. monitor: looking is fine, too. */
export type HowToWait = "notification" | "monitor";

export interface Advice {
  readonly action: Action;
  readonly code: Code | null;
  /** The item; null: it is about the queue. */
  readonly workId: string | null;
  /** The session that it is about, by id. */
  readonly sessionId: string | null;
  /** What to do and why, for a model. */
  readonly text: string;
  readonly dispatch: Dispatch | null;
  /** To send to the session, for fix and send-details. */
  readonly message: string | null;
  readonly approval: { readonly id: string; readonly title: string } | null;
  /** To review or to finalise; null where it is not known. */
  readonly commit: string | null;
  readonly wait: { readonly how: HowToWait; readonly sessions: readonly string[] } | null;
  /** When a usage limit resets. */
  readonly until: number | null;
  /** What is reported of the item afterwards: one of these. Empty: nothing, or the action itself does it. */
  readonly report: readonly WorkChangeType[];
}

export interface Dispatch {
  readonly agent: string;
  readonly role: string | null;
  readonly cwd: string;
  readonly branch: string | null;
  readonly prompt: string;
  /** An idle worker that can take it; null: start a new one. */
  readonly to: string | null;
}

const NOTHING: Omit<Advice, "action" | "text"> = {
  code: null,
  workId: null,
  sessionId: null,
  dispatch: null,
  message: null,
  approval: null,
  commit: null,
  wait: null,
  until: null,
  report: [],
};

export function advise(action: Action, text: string, more: Partial<Omit<Advice, "action" | "text">> = {}): Advice {
  return { ...NOTHING, ...more, action, text };
}
