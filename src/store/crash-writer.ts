/**
 * For tests only, run as a process to be killed: commits without end into the
 * home given as its argument, and prints one line of JSON for every commit that
 * was acknowledged. A refused commit is printed as `{"refused": code}`.
 */
import { writeSync } from "node:fs";
import { setTimeout as wait } from "node:timers/promises";
import { ReeveError } from "../platform/reeve-error.ts";
import { admitMessage, putSession } from "./change.ts";
import { countKind, makeHome, makeMessage, makeSession, nextRevision, STARTED } from "./store-fixture.ts";

const SESSIONS = 5;

export interface Acknowledged {
  readonly id: string;
  readonly revision: number;
  readonly seq: number;
  readonly messageId: string;
}

const home = makeHome(process.argv[2]);
const store = await home.open();
writeSync(1, "open\n");
await Promise.all(Array.from({ length: SESSIONS }, (_, index) => writeSession(`s-${index}`)));

async function writeSession(id: string): Promise<void> {
  for (;;) {
    const stored = store.registry.get(id);
    const session = stored
      ? nextRevision(stored, { conversation: { turns: stored.conversation.turns + 1 } })
      : makeSession(home, id);
    const messageId = `${id}-${session.revision}-${process.pid}`;
    try {
      const [event] = await store.commit({
        changes: [
          putSession(session),
          countKind.put({ id, revision: session.revision }),
          admitMessage(makeMessage(id, messageId)),
        ],
        events: [{ sessionId: id, body: STARTED }],
      });
      const acknowledged: Acknowledged = { id, revision: session.revision, seq: event?.seq ?? 0, messageId };
      writeSync(1, `${JSON.stringify(acknowledged)}\n`);
    } catch (error) {
      writeSync(1, `${JSON.stringify({ refused: error instanceof ReeveError ? error.code : String(error) })}\n`);
      await wait(5);
    }
  }
}
