/** How long the processes of a session may take to end by themselves: as asked, else what is chosen for the session. */
import type { Session } from "../session/session.ts";
import { TIME_OUTS } from "../session/time-out.ts";
import type { OperationContext } from "./contract.ts";

export function graceMsOf({ supervisor }: OperationContext, session: Session, seconds: number | undefined): number {
  if (seconds !== undefined) return seconds * 1_000;
  return supervisor.timeOuts(session).stop_grace.afterMs ?? TIME_OUTS.stop_grace.afterMs;
}
