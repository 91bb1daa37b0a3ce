/** The interface of each part that watches a living session. */
import type { Session } from "../../session/session.ts";

export interface Watcher {
  /** Called after every commit about a session whose process is there; brings what is watched in line with it. */
  attend(session: Session): void;
  /** Its process is gone: reads what is left to read, and watches no longer. */
  leave(session: Session): Promise<void>;
  close(): Promise<void>;
}
