import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { ReeveError } from "../platform/reeve-error.ts";
import type { Session } from "../session/session.ts";
import { makeHome, makeSession, nextRevision, STARTED } from "./store-fixture.ts";

let directory: string;
let mounted = false;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "reeve-full-"));
  mounted = spawnSync("mount", ["-t", "tmpfs", "-o", "size=1m,mode=0700", "tmpfs", directory]).status === 0;
});
afterEach(() => {
  if (mounted) spawnSync("umount", [directory]);
  rmSync(directory, { recursive: true, force: true });
});

test("a full disk: refused with a reason, nothing half done, and on once there is room", async (context) => {
  if (!mounted) context.skip("only root may mount the small disk this needs");
  mkdirSync(join(directory, "state"));
  const home = makeHome(directory);
  const store = await home.open();
  let session: Session = makeSession(home, "a");
  await store.commit({ session });
  await store.verified;
  const ballast = join(directory, "ballast");
  writeFileSync(ballast, Buffer.alloc(500 * 1024));

  let acknowledged = 0;
  let refusal: ReeveError | undefined;
  while (!refusal) {
    const next = nextRevision(session, { turns: acknowledged });
    try {
      await store.commit({
        session: next,
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
  const [event] = await store.commit({ session: nextRevision(session), events: [{ sessionId: "a", body: STARTED }] });
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
