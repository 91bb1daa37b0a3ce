/** Target 11: commits of one event each, many under way at a time, against SQLite itself with 100 rows a transaction. */
import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { systemClock } from "../../src/platform/clock.ts";
import type { SessionEvent } from "../../src/session/event.ts";
import { openStore } from "../../src/store/open-store.ts";
import { alternate, atLeast, compare } from "./support/measure.ts";
import type { Target } from "./support/target.ts";

const ROWS_PER_TRANSACTION = 100;
const SESSION = "bench00001";

export const eventRate: Target = {
  number: 11,
  title: "durable events per second",
  async measure({ scope, build, rounds, add }) {
    const directory = mkdtempSync(join(build.temporary, "events-"));
    scope.defer(() => rmSync(directory, { recursive: true, force: true }));
    const store = await openStore({
      databasePath: join(directory, "reeve.db"),
      outputsRoot: join(directory, "outputs"),
      instancePath: join(directory, "instance"),
      clock: systemClock,
      log: () => undefined,
    });
    scope.defer(() => store.close());
    const db = new DatabaseSync(join(directory, "raw.db"));
    scope.defer(() => db.close());
    db.exec(`PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL;
      CREATE TABLE events (seq INTEGER PRIMARY KEY AUTOINCREMENT, at INTEGER NOT NULL, session_id TEXT, body TEXT NOT NULL)`);
    const statements = {
      begin: db.prepare("BEGIN IMMEDIATE"),
      insert: db.prepare("INSERT INTO events (at, session_id, body) VALUES (?, ?, ?)"),
      commit: db.prepare("COMMIT"),
    };
    const events = rounds(10_000, 4_000);

    const insertRaw = (): number => {
      const startedAt = performance.now();
      for (let done = 0; done < events; done += ROWS_PER_TRANSACTION) {
        statements.begin.run();
        for (let row = 0; row < ROWS_PER_TRANSACTION; row += 1)
          statements.insert.run(Date.now(), SESSION, JSON.stringify(eventNumber(done + row)));
        statements.commit.run();
      }
      return perSecond(events, startedAt);
    };
    const commitConcurrently = async (underWay: number): Promise<number> => {
      const startedAt = performance.now();
      let next = 0;
      const committer = async (): Promise<void> => {
        while (next < events) await store.commit({ events: [{ sessionId: SESSION, body: eventNumber((next += 1)) }] });
      };
      await Promise.all(Array.from({ length: underWay }, committer));
      return perSecond(events, startedAt);
    };

    const samples = await alternate({ count: rounds(7, 3), warmUp: 1, pauseMs: 50 }, [
      async () => ({ raw: insertRaw() }),
      async () => ({ hundred: await commitConcurrently(100) }),
      async () => ({ many: await commitConcurrently(400) }),
    ]);
    const common = {
      target: 11,
      unit: "events/s",
      baseline: samples("raw"),
      baselineName: "SQLite, 100 rows a transaction",
      limit: atLeast(0.5),
    } as const;
    add(
      compare({ ...common, what: "100 commits under way", subject: samples("hundred") }),
      compare({ ...common, what: "400 commits under way", subject: samples("many") }),
    );
  },
};

function eventNumber(turn: number): SessionEvent {
  return {
    type: "turn-completed",
    turn,
    evidence: { source: "hook", detail: `turn-completed hook, turn ${turn}`, at: Date.now() },
  };
}

function perSecond(count: number, startedAt: number): number {
  return (count / (performance.now() - startedAt)) * 1_000;
}
