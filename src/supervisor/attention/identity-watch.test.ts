import { mkdirSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { eventually } from "../../../test/support/eventually.ts";
import type { Agent } from "../../agent/contract.ts";
import type { Runtime } from "../../runtime/contract.ts";
import { localFiles } from "../../runtime/local-files.ts";
import { makeHome, type TestHome } from "../../store/store-fixture.ts";
import { createIdentityWatch } from "./identity-watch.ts";
import { agentWith, type Ground, makeGround } from "./watch-fixture.ts";
import type { Watcher } from "./watcher.ts";

let home: TestHome;
let ground: Ground;
let watcher: Watcher;
/** What the session's processes hold open, as the runtime would say. */
let openFiles: readonly string[];
let looks: number;

/** Holds `<id>.lock` open; its transcript is somewhere below `sessions`, named `…-<id>.jsonl`. */
const agentOf = (root: string): Agent =>
  agentWith({
    readOpenFiles(paths) {
      looks++;
      const lock = paths.find((path) => path.endsWith(".lock"));
      return lock === undefined
        ? null
        : { source: "runtime", detail: `holds ${basename(lock)} open`, nativeId: basename(lock, ".lock") };
    },
    searchTranscript: ({ nativeId }) => (nativeId === null ? null : { root, depth: 3, suffix: `-${nativeId}.jsonl` }),
  });

beforeEach(() => {
  home = makeHome();
  openFiles = [];
  looks = 0;
});
afterEach(() => ground.dispose());

async function watch(
  changes: Parameters<typeof makeGround>[1] = {},
  agent = agentOf(join(home.directory, "sessions")),
): Promise<void> {
  ground = await makeGround(agent, changes, home);
  const runtime = (): Pick<Runtime, "files" | "openFiles"> => ({ files: localFiles, openFiles: async () => openFiles });
  watcher = ground.use(createIdentityWatch({ ...ground.parts, runtime }));
}

function writeTranscript(path: string): string {
  const whole = join(home.directory, "sessions", path);
  mkdirSync(dirname(whole), { recursive: true });
  writeFileSync(whole, "{}\n");
  return whole;
}

const known = () => ({
  nativeId: ground.session().conversation.nativeId,
  path: ground.session().watch.observability.transcriptPath,
});
const isKnown = (path: string): Promise<unknown> => eventually("both are known", () => known().path === path);

test("by a file it holds open, then by searching for its transcript", async () => {
  const path = writeTranscript("2026/11/15/rollout-n-1.jsonl");
  writeTranscript("2026/11/15/rollout-n-2.jsonl");
  writeTranscript("2027/rollout-n-3.jsonl");
  await watch();
  openFiles = ["/dev/pts/1", "/x/n-1.lock"];
  await isKnown(path);
  expect(known()).toEqual({ nativeId: "n-1", path });
});

test("an id that is known is searched for until the transcript is there", async () => {
  await watch({ conversation: { nativeId: "n-1" } });
  await eventually("it looked", () => looks > 0);
  expect(known().path).toBeNull();
  await isKnown(writeTranscript("2026/01/01/rollout-n-1.jsonl"));
});

test("the newest directories are looked at first, and only so deep", async () => {
  writeTranscript("2026/11/14/rollout-n-1.jsonl");
  const newer = writeTranscript("2026/11/15/rollout-n-1.jsonl");
  writeTranscript("2026/11/16/too/deep-n-1.jsonl");
  await watch({ conversation: { nativeId: "n-1" } });
  await isKnown(newer);
});

test("once both are known nobody looks any more", async () => {
  const path = writeTranscript("rollout-n-1.jsonl");
  await watch({ conversation: { nativeId: "n-1" } });
  await isKnown(path);
  const before = looks;
  await ground.readings.take(ground.session(), { source: "hook", detail: "x", activity: "working" });
  const other = await makeGround(agentOf("/nowhere"));
  try {
    const second = other.use(
      createIdentityWatch({
        ...other.parts,
        runtime: () => ({ files: localFiles, openFiles: async () => [] }),
      }),
    );
    await eventually("another session was looked at twice", () => looks >= before + 2);
    await second.close();
  } finally {
    await other.dispose();
  }
  // One look may have been under way.
  expect(looks - before).toBeLessThanOrEqual(3);
  expect(ground.session().watch.observability.transcriptPath).toBe(path);
});

test("an agent without a transcript is not looked for", async () => {
  const agent = agentOf("/nowhere");
  await watch({}, { ...agent, capabilities: { ...agent.capabilities, transcript: false } });
  await watcher.leave(ground.session());
  expect(looks).toBe(0);
});

test("what cannot be asked is logged, and asked again", async () => {
  const agent = agentOf("/nowhere");
  let failures = 2;
  await watch(
    {},
    {
      ...agent,
      readOpenFiles(paths, about) {
        if (failures-- > 0) throw new Error("no /proc");
        return agent.readOpenFiles(paths, about);
      },
    },
  );
  openFiles = ["/x/n-1.lock"];
  await eventually("it is known", () => known().nativeId === "n-1");
  expect(home.logged.filter(({ message }) => message === "the search for a conversation failed")).toHaveLength(2);
});

test("a last search when the session is over", async () => {
  await watch({ conversation: { nativeId: "n-1" } });
  const path = writeTranscript("2026/rollout-n-1.jsonl");
  await ground.apply({
    type: "found-exited",
    incarnation: 1,
    code: 0,
    signal: null,
    evidence: { source: "runtime", detail: "gone", at: 1 },
  });
  await watcher.leave(ground.session());
  expect(known().path).toBe(path);
});
