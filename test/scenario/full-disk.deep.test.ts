/**
 * The agent that fills the disk can still be listed and ended,
 * without a byte (or an inode) free, by this daemon and by the next one. The
 * disk is a small tmpfs under the home; the session that fills it never gives
 * up, so that whatever is set free is gone at once.
 */
import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmdirSync, rmSync, statfsSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { eventually } from "../support/eventually.ts";
import type { TestHome } from "../support/test-home.ts";
import { createTestHome } from "../support/test-home.ts";

interface Full {
  readonly what: string;
  readonly disk: string;
  /** A shell script that fills the disk in its directory and keeps it full. */
  readonly hog: string;
  readonly isFull: (home: TestHome) => boolean;
}

const KINDS: readonly Full[] = [
  {
    what: "byte",
    disk: "size=16m",
    hog: "while :; do head -c 65536 /dev/zero >> fill-bytes; head -c 512 /dev/zero >> fill-bytes; done 2>/dev/null",
    isFull: (home) => statfsSync(home.dir).bavail === 0,
  },
  {
    what: "inode",
    disk: "size=64m,nr_inodes=200",
    hog: "i=0; while :; do i=$((i+1)); touch fill-$i || i=$((i-1)); done 2>/dev/null",
    isFull: (home) => statfsSync(home.dir).ffree === 0,
  },
];

/** A machine whose disk is full is slow. */
vi.setConfig({ testTimeout: 120_000 });

const canMount = ((): boolean => {
  const probe = mkdtempSync(join(tmpdir(), "reeve-test-"));
  const isMounted = spawnSync("mount", ["-t", "tmpfs", "-o", "size=1m", "tmpfs", probe]).status === 0;
  if (isMounted) spawnSync("umount", [probe]);
  rmdirSync(probe);
  return isMounted;
})();

for (const kind of KINDS) {
  test
    .skipIf(!canMount)
    .concurrent(
      `without one ${kind.what} free everything is listed and ended, also after kill -9 and a stop of the daemon`,
      async () => {
        const home = createTestHome({ disk: kind.disk });
        try {
          await everythingEnds(home, kind);
        } finally {
          await home.dispose();
        }
      },
    );
}

for (const kind of KINDS) {
  test
    .skipIf(!canMount)
    .concurrent(`the very first session of a home takes every ${kind.what}, and is ended`, async () => {
      const home = createTestHome({ disk: kind.disk });
      try {
        await startHog(home, kind);
        await home.killDaemon();
        expect((await home.session("hog")).state).toBe("running");
        await home.json("end", "hog", "--when", "now", "--grace", "0");
        expect(home.marked()).toEqual([]);
      } finally {
        await home.dispose();
      }
    });
}

async function startHog(home: TestHome, kind: Full): Promise<void> {
  await home.json("start", "command", "--name", "hog", "--cwd", home.dir, "--", "sh", "-c", kind.hog);
  await eventually(`there is no ${kind.what} left`, () => kind.isFull(home), 20_000);
}

async function everythingEnds(home: TestHome, kind: Full): Promise<void> {
  for (const name of ["one", "two", "three", "four"])
    await home.json("start", "command", "--name", name, "--cwd", home.dir, "--", "sleep", "600");
  await startHog(home, kind);

  const states = async (): Promise<Readonly<Record<string, string>>> =>
    Object.fromEntries((await home.list()).map((session) => [session.name, session.state]));
  const end = async (name: string): Promise<string> =>
    (await home.json<{ session: { state: string } }>("end", name, "--when", "now", "--grace", "0")).session.state;

  expect(await states()).toMatchObject({ hog: "running", one: "running", two: "running" });
  expect(await end("one")).toBe("stopped");
  await home.killDaemon();
  expect(await states()).toMatchObject({ hog: "running", one: "stopped", two: "running" });
  expect(await end("two")).toBe("stopped");

  await home.json("daemon", "stop");
  expect(await states()).toMatchObject({ hog: "running", two: "stopped", three: "running" });
  const refused = await home.run(["start", "command", "--name", "more", "--json", "--", "sleep", "1"]);
  expect(refused.status).not.toBe(0);
  expect(JSON.parse(refused.stdout)).toMatchObject({
    error: { code: "disk-full", message: expect.stringMatching(/is full.*free some/) },
  });
  // Nothing of it was done, so nobody is told how to ask for it again.
  expect(refused.stdout).not.toContain("idempotency_key");
  await home.killDaemon();
  expect(await end("three")).toBe("stopped");
  expect(kind.isFull(home)).toBe(true);

  expect(await end("hog")).toBe("stopped");
  expect(home.marked((await home.session("hog")).session_id)).toEqual([]);
  for (const name of readdirSync(home.dir)) if (name.startsWith("fill-")) rmSync(join(home.dir, name));
  await home.json("start", "command", "--name", "after", "--cwd", home.dir, "--", "sleep", "600");
  await eventually("it runs", async () => (await home.session("after")).state === "running");
  await home.killDaemon();
  expect(await states()).toEqual({
    hog: "stopped",
    one: "stopped",
    two: "stopped",
    three: "stopped",
    four: "running",
    after: "running",
  });
}
