/**
 * Codex's app-server keeps its socket in
 * /tmp/codex-daemon-<uid> and removes it only when it is asked to end. However
 * a session ends, nothing of that is left, and other sessions' sockets stay.
 */
import { lstatSync, readdirSync, readlinkSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { eventually } from "../support/eventually.ts";
import type { Rig } from "./rig.ts";
import { CASES, createRig } from "./rig.ts";
import { isIdle } from "./session-steps.ts";

let rig: Rig;
beforeAll(async () => {
  rig = await createRig(CASES.codexAppServer);
  await rig.home.json("daemon", "start");
});
afterAll(() => rig.dispose(), 60_000);

const PATIENCE = { timeout: 120_000 };

/** The sockets of all sessions: the links, what they lead to, and the locks. */
function socketFiles(): readonly string[] {
  const run = join(rig.home.dir, "run");
  const links = readdirSync(run, { withFileTypes: true }).filter((entry) => entry.isSymbolicLink());
  return links.flatMap(({ name }) => {
    const real = readlinkSync(join(run, name));
    return [join(run, name), real, `${real}.lock`];
  });
}

async function ready(): Promise<{ readonly id: string; readonly files: readonly string[] }> {
  const before = socketFiles();
  const { session_id: id } = await rig.start("[[say ready]]");
  await rig.wait(id, "--since", "0", "--for", "turn-completed");
  await eventually("it is idle", () => isIdle(rig, id), 60_000);
  const files = socketFiles().filter((path) => !before.includes(path));
  expect([files.length, left(files)]).toEqual([3, files]);
  return { id, files };
}

const isThere = (path: string): boolean => lstatSync(path, { throwIfNoEntry: false }) !== undefined;
const left = (files: readonly string[]): readonly string[] => files.filter(isThere);
/** One that is stopped cannot tidy up before it is killed. */
function signalAll(id: string, signal: NodeJS.Signals): void {
  for (const { pid } of rig.home.marked(id)) {
    try {
      process.kill(pid, signal);
    } catch {
      // it went with its parent
    }
  }
}

const endAtOnce = (id: string) => rig.home.json("end", id, "--when", "now", "--grace", "0");

test("an end that kills it at once leaves nothing of its socket, and another session's alone", PATIENCE, async () => {
  const [one, other] = [await ready(), await ready()];
  await endAtOnce(one.id);
  expect(left(one.files)).toEqual([]);
  expect(left(other.files)).toEqual(other.files);
  await endAtOnce(other.id);
  expect(left(other.files)).toEqual([]);
});

test("neither does a kill -9 of all that it is", PATIENCE, async () => {
  const { id, files } = await ready();
  signalAll(id, "SIGSTOP");
  signalAll(id, "SIGKILL");
  await rig.wait(id, "--for", "exited");
  await endAtOnce(id);
  expect(left(files)).toEqual([]);
});

test("neither does an end whose daemon is killed after the session was", PATIENCE, async () => {
  const { id, files } = await ready();
  signalAll(id, "SIGSTOP");
  rig.home.failAt("stop.after-signals");
  await endAtOnce(id);
  expect(rig.home.isFailpointArmed()).toBe(false);
  expect(left(files)).toEqual([]);
});
