/**
 * Says which notifications a start arms, for whom, and how they will arrive.
 * What it says must be true: nothing is armed that nobody could deliver.
 */
import type { Caller } from "../session/caller.ts";
import type { Session } from "../session/session.ts";
import { isEnded } from "../session/session.ts";
import { WAKE_REASONS, type WakeReason } from "../session/wake.ts";

/**
 * How a session can be woken. turn: its agent's own protocol begins a turn.
 * typed: a line is typed into it. An agent that takes notifications of the MCP
 * server will be a further one.
 */
export type WakeRoute = "turn" | "typed" | "none";

export function wakeRouteOf(receiver: Session): WakeRoute {
  if (!receiver.identity.hasTurns || isEnded(receiver)) return "none";
  return receiver.watch.socket === null ? "typed" : "turn";
}

export interface Notifications {
  readonly armed: readonly WakeReason[];
  /** The session that is woken. */
  readonly to: string | null;
  readonly by: WakeRoute;
  /** A sentence: how they arrive, or why there are none. */
  readonly why: string;
}

/** Of what is started: what its parent is to be woken for. Without a wish, everything, if the parent itself starts it. */
export function armedFor(request: {
  readonly asked: readonly WakeReason[] | undefined;
  readonly parent: Session | undefined;
  readonly caller: Caller;
  readonly isEnabled: boolean;
}): readonly WakeReason[] {
  const { asked, parent, caller, isEnabled } = request;
  if (parent === undefined || !isEnabled || wakeRouteOf(parent) === "none") return [];
  const isOwn = caller.kind === "session" && caller.id === parent.id;
  const wanted = asked ?? (isOwn ? WAKE_REASONS : []);
  return WAKE_REASONS.filter((reason) => wanted.includes(reason));
}

export function notificationsOf(child: Session, parent: Session | undefined, isEnabled: boolean): Notifications {
  const { notify } = child.identity;
  const none = (to: string | null, why: string): Notifications => ({ armed: [], to, by: "none", why });
  if (parent === undefined)
    return none(null, "No session started it, so none is woken; wait for it with wait_for_session.");
  const { name } = parent.identity;
  if (!isEnabled) return none(parent.id, "Wakes are switched off (wakes = false in config.toml).");
  if (isEnded(parent)) return none(parent.id, `Session ${name} has ended.`);
  const by = wakeRouteOf(parent);
  if (by === "none")
    return none(
      parent.id,
      `Session ${name} (${parent.identity.agent}) does not say when it is idle, so nothing is typed into it; wait with wait_for_session.`,
    );
  if (notify.length === 0)
    return none(parent.id, "It was started without notifications; wait for it with wait_for_session.");
  const how = by === "turn" ? "gets a turn with one line" : "gets one line typed into it";
  return { armed: notify, to: parent.id, by, why: `Session ${name} ${how} when it is idle.` };
}
