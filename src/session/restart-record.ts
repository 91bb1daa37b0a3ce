/** The part of a session's record that says how often it was started again, and when it will be (restart-policy.ts). */
import { moment } from "./moment.ts";
import { count, flag, instant, later, listOf, object, type Of, oneOf, orNull } from "./shape.ts";

export const RESTART_POLICIES = ["never", "on-failure", "always"] as const;
export const restartPolicy = oneOf(...RESTART_POLICIES);
export type RestartPolicy = Of<typeof restartPolicy>;

/** shared: what it lived in died, with every other session in it. */
const deathCause = oneOf("own", "shared");
export type DeathCause = Of<typeof deathCause>;

const automaticRestart = object({
  ...moment.fields,
  /** What it was for. */
  cause: deathCause,
  /** It ran well since: the next pause is short again. */
  isOvercome: flag,
});
export interface AutomaticRestart extends Of<typeof automaticRestart> {}

export const restart = object({
  count,
  /** Not used any more: version 0.1, to which somebody may go back, counts here and needs a list. */
  recentAt: listOf(instant),
  /** Automatic restarts, newest last; bounded by the policy's window. A restart on request forgets them. */
  recent: later(listOf(automaticRestart), []),
  /** When the next automatic restart is due, by the wall clock as it was when that was decided, */
  dueAt: orNull(instant),
  /** and when that was. */
  decided: later(orNull(moment), null),
  /** Of the newest death, */
  cause: later(deathCause, "own"),
  /** and when that was seen. */
  ended: later(orNull(moment), null),
  /** When this incarnation began to run. */
  running: later(orNull(moment), null),
});
export interface RestartRecord extends Of<typeof restart> {}

export const NO_RESTARTS: RestartRecord = {
  count: 0,
  recentAt: [],
  recent: [],
  dueAt: null,
  decided: null,
  cause: "own",
  ended: null,
  running: null,
};
