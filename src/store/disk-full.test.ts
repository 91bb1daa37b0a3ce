import { spawnSync } from "node:child_process";
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  statfsSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { ReeveError } from "../platform/reeve-error.ts";
import type { Session } from "../session/session.ts";
import { putSession } from "./change.ts";
import { Sqlite } from "./sqlite.ts";
import { makeHome, makeSession, nextRevision, STARTED, type TestHome } from "./store-fixture.ts";

let directory: string;
let mounted = false;
let home: TestHome | undefined;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "reeve-full-"));
  mounted = spawnSync("mount", ["-t", "tmpfs", "-o", "size=1m,mode=0700", "tmpfs", directory]).status === 0;
});
afterEach(async () => {
  await home?.close();
  home = undefined;
  if (mounted) spawnSync("umount", [directory]);
  rmSync(directory, { recursive: true, force: true });
});

test("a full disk: refused with a reason, nothing half done, and on once there is room", async (context) => {
  if (!mounted) context.skip("only root may mount the small disk this needs");
  mkdirSync(join(directory, "state"));
  home = makeHome(directory);
  const store = await home.open();
  let session: Session = makeSession(home, "a");
  await store.commit({ changes: [putSession(session)] });
  await store.verified;
  const ballast = join(directory, "ballast");
  writeFileSync(ballast, Buffer.alloc(500 * 1024));

  let acknowledged = 0;
  let refusal: ReeveError | undefined;
  while (!refusal) {
    const next = nextRevision(session, { conversation: { turns: acknowledged } });
    try {
      await store.commit({
        changes: [putSession(next)],
        events: [{ sessionId: "a", body: { ...STARTED, version: "x".repeat(8_000) } }],
      });
      session = next;
      acknowledged += 1;
    } catch (error) {
      if (!(error instanceof ReeveError)) throw error;
      refusal = error;
    }
  }
  expect([refusal.code, refusal.kind, acknowledged > 0]).toEqual(["store-unwritable", "unavailable", true]);
  expect([store.registry.get("a"), store.log.head()]).toEqual([session, acknowledged]);
  const both = await Promise.allSettled(
    [1, 2].map((at) =>
      store.commit({ events: [{ sessionId: null, body: { ...STARTED, version: "y".repeat(300_000 * at) } }] }),
    ),
  );
  expect(both.map(({ status }) => status)).toEqual(["rejected", "rejected"]);

  rmSync(ballast);
  const [event] = await store.commit({
    changes: [putSession(nextRevision(session))],
    events: [{ sessionId: "a", body: STARTED }],
  });
  expect(event?.seq).toBe(acknowledged + 1);
  await store.close();
  const again = await home.open();
  expect([again.registry.all(), again.log.head(), again.repairs]).toEqual([
    [nextRevision(session)],
    acknowledged + 1,
    [],
  ]);
  await again.close();
});

/** Takes every block there is. */
function fillUp(): void {
  const path = join(directory, "filler");
  for (let size = 65_536; size >= 1; size = Math.floor(size / 2)) {
    try {
      for (;;) appendFileSync(path, Buffer.alloc(size));
    } catch {
      // Smaller pieces may still fit.
    }
  }
  expect(statfsSync(directory).bavail).toBe(0);
}

function openOnSmallDisk(size: string): TestHome {
  spawnSync("umount", [directory]);
  mounted = spawnSync("mount", ["-t", "tmpfs", "-o", `size=${size},mode=0700`, "tmpfs", directory]).status === 0;
  mkdirSync(join(directory, "state"));
  return makeHome(directory);
}

const RESERVE = { reserveBytes: 2 * 1024 * 1024 };

describe("the reserve", () => {
  test("a new home has it before anything else is done in it", async (context) => {
    if (!mounted) context.skip("only root may mount the small disk this needs");
    home = openOnSmallDisk("16m");
    const store = await home.open({ ...RESERVE, verifyAfterMs: 60_000 });
    expect(statSync(`${home.databasePath}-wal`).size).toBeGreaterThan(1_500_000);
    expect(statSync(home.databasePath).size).toBeGreaterThan(1_500_000);
    await store.close();
    const db = Sqlite.open(home.databasePath);
    expect(db.get<{ freelist_count: number }>("PRAGMA freelist_count")?.freelist_count).toBeGreaterThan(350);
    expect(db.all("SELECT key FROM meta")).toEqual([{ key: "instance" }]);
    db.close();
  });

  test("a thousand commits without a byte free, before and after the store was closed", async (context) => {
    if (!mounted) context.skip("only root may mount the small disk this needs");
    home = openOnSmallDisk("16m");
    let store = await home.open(RESERVE);
    let session: Session = makeSession(home, "a");
    await store.commit({ changes: [putSession(session)] });
    fillUp();
    const commitMany = async (count: number): Promise<void> => {
      for (let turn = 0; turn < count; turn += 1) {
        session = nextRevision(session, { conversation: { turns: session.conversation.turns + 1 } });
        await store.commit({ changes: [putSession(session)], events: [{ sessionId: "a", body: STARTED }] });
      }
    };
    await commitMany(500);
    await store.close();
    expect(existsSync(`${home.databasePath}-reserve`)).toBe(true);
    // What the close set free is taken at once.
    fillUp();
    store = await home.open(RESERVE);
    expect(store.registry.get("a")).toEqual(session);
    await commitMany(500);
    expect(statfsSync(directory).bavail).toBe(0);
    rmSync(join(directory, "filler"));
    await store.close();
    const again = await home.open(RESERVE);
    expect([again.registry.get("a"), again.log.head(), again.repairs]).toEqual([session, 1_000, []]);
  }, 60_000);

  test("a -wal from before a close is never believed again", async (context) => {
    if (!mounted) context.skip("only root may mount the small disk this needs");
    home = openOnSmallDisk("16m");
    const store = await home.open(RESERVE);
    await store.commit({ changes: [putSession(makeSession(home, "a"))] });
    await store.close();
    // Somebody changes the database by other means meanwhile.
    const db = Sqlite.open(home.databasePath);
    db.run("UPDATE sessions SET name = 'other'");
    db.close();
    const again = await home.open(RESERVE);
    expect(again.registry.byName("other")).toHaveLength(1);
  });
});
