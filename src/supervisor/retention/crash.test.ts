/** kill -9 at every step of a removal: whole, or a rest that the next run removes. */
import { spawn } from "node:child_process";
import { cpSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { removalKind } from "../../fleet/removal.ts";
import { admitMessage, settleMessage } from "../../store/change.ts";
import { makeHome, makeMessage, momentAt } from "../../store/store-fixture.ts";
import { EVERYTHING, makePrunerGround } from "../../../test/retention/pruner-fixture.ts";

/** Each round starts Node processes; a busy machine takes its time. */
vi.setConfig({ testTimeout: 60_000 });

const PRUNER = join(import.meta.dirname, "../../../test/retention/crash-pruner.ts");

/** In a process of its own, which dies there. */
async function dieAt(directory: string, point: string): Promise<void> {
  const armed = join(directory, "failpoint");
  writeFileSync(armed, point);
  const child = spawn(process.execPath, [PRUNER, directory], {
    env: { ...process.env, REEVE_FAILPOINT_FILE: armed },
    stdio: ["ignore", "inherit", "inherit"],
  });
  const ended = await new Promise((resolve) => child.on("close", (code, signal) => resolve(signal ?? code)));
  expect(ended, `at ${point}`).toBe("SIGKILL");
}

/** What the daemon after it does. */
async function pruneAgain(directory: string): Promise<void> {
  const ground = await makePrunerGround({ directory });
  await ground.pruner.recover();
  await ground.prune(EVERYTHING);
  await ground.store.close();
}

/** One that stays, one that goes; that one has more messages than go in one commit. */
async function makeDirectory(): Promise<string> {
  const ground = await makePrunerGround();
  const { home, store } = ground;
  await ground.live("busy");
  await ground.end("old", 1_000);
  const messages = Array.from({ length: 450 }, (_, index) => `m-${index}`);
  await store.commit({ changes: messages.map((id) => admitMessage(makeMessage("old", id))) });
  await store.commit({
    changes: messages.map((messageId) =>
      settleMessage({ messageId, state: "delivered", detail: null, moment: momentAt(1) }),
    ),
  });
  await store.close();
  return home.directory;
}

const agents = (directory: string): string => join(directory, "outputs", "agents", "worker");

const isWhole = (directory: string): boolean =>
  existsSync(join(agents(directory), "old", "output.log")) && existsSync(join(agents(directory), "old", "state.json"));

async function idsIn(directory: string): Promise<readonly string[]> {
  const home = makeHome(directory);
  const store = await home.open();
  await store.verified;
  const ids = store.registry.all().map(({ id }) => id);
  await home.close();
  return ids;
}

test.each([
  ["prune.before-intent", true],
  ["prune.after-intent", true],
  ["prune.after-move", false],
  ["prune.between-messages", false],
  ["prune.after-record", false],
  ["prune.after-delete", false],
  ["prune.after-removal", false],
  ["prune.after-events", false],
] as const)("killed at %s", async (point, whole) => {
  const directory = await makeDirectory();
  const lost = `${directory}-lost`;
  try {
    await dieAt(directory, point);
    expect(isWhole(directory)).toBe(whole);

    // Should the database be lost right now, no file brings back what was to go.
    cpSync(directory, lost, { recursive: true });
    for (const name of readdirSync(join(lost, "state")))
      if (name.startsWith("reeve.db")) rmSync(join(lost, "state", name));
    expect(await idsIn(lost)).toEqual(whole ? ["busy", "old"] : ["busy"]);
    await pruneAgain(lost);
    expectGone(lost);

    // The next daemon goes on: it is removed, and nothing of it is left.
    await pruneAgain(directory);
    expect(await idsIn(directory)).toEqual(["busy"]);
    expectGone(directory);
    const home = makeHome(directory);
    const store = await home.open();
    expect(await store.records(removalKind).list()).toEqual([]);
    expect(store.mailbox.count("old")).toBe(0);
    expect(readFileSync(join(agents(directory), "busy", "output.log"), "utf8")).toBe("of busy\n");
    // Each event is there once or gone, and the numbers go on.
    const seqs = (await store.log.read({ after: 0, limit: 1_000 })).map(({ seq }) => seq);
    expect(new Set(seqs).size).toBe(seqs.length);
    await home.close();
  } finally {
    for (const path of [directory, lost]) rmSync(path, { recursive: true, force: true });
  }
});

function expectGone(directory: string): void {
  expect(readdirSync(agents(directory))).toEqual(["busy"]);
  const removed = join(directory, "outputs", "removed");
  expect(existsSync(removed) ? readdirSync(removed) : []).toEqual([]);
}
