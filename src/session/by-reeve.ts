/** What Reeve did with a session by itself counts as its last command, as a person's would. */
import { amend } from "./amend.ts";
import { callerName, SYSTEM } from "./caller.ts";
import type { LastCommand, Session } from "./session.ts";

export function byReeve(session: Session, type: LastCommand["type"], at: number): Session {
  return amend(session, { wish: { lastCommand: { type, by: callerName(SYSTEM), at } } });
}
