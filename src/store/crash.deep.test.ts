import { spawn, spawnSync } from "node:child_process";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { Acknowledged } from "./crash-writer.ts";
import { readStateFile } from "./state-file.ts";
import { countKind, makeHome, type TestHome } from "./store-fixture.ts";

const WRITER = join(import.meta.dirname, "crash-writer.ts");
const HAS_STRACE = spawnSync("strace", ["-e", "trace=none", "true"]).status === 0;

/** Each round starts a Node process; a busy machine takes its time. */
vi.setConfig({ testTimeout: 60_000 });

let home: TestHome;
let armed: string;
beforeEach(() => {
  home = makeHome();
  armed = join(home.directory, "failpoint");
});
afterEach(() => home.remove());

/** Runs the writer until `enough` lines were seen (then kills it) or it dies; returns its lines. */
async function runWriter(enough: number, prefix: readonly string[] = []): Promise<string[]> {
  const command = [...prefix, process.execPath, WRITER, home.directory];
  const child = spawn(command[0] ?? "", command.slice(1), {
    env: { ...process.env, REEVE_FAILPOINT_FILE: armed },
    stdio: ["ignore", "pipe", "inherit"],
    detached: true,
  });
  let output = "";
  child.stdout.setEncoding("utf8").on("data", (chunk: string) => {
    output += chunk;
    if (output.split("\n").length > enough && child.pid !== undefined) {
      try {
        process.kill(-child.pid, "SIGKILL");
      } catch {
        // It is dead already.
      }
    }
  });
  await new Promise((resolve) => child.on("close", resolve));
  const lines = output.split("\n").slice(0, -1);
  expect(lines[0]).toBe("open");
  return lines.slice(1);
}

async function expectAllKept(lines: readonly string[]): Promise<void> {
  const acknowledged = lines
    .filter((line) => !line.includes("refused"))
    .map((line) => JSON.parse(line) as Acknowledged);
  const store = await home.open();
  const events = await store.log.read({ after: 0, limit: 1_000_000 });
  const bySeq = new Map(events.map((event) => [event.seq, event]));
  const counts = new Map((await store.records(countKind).list()).map((count) => [count.id, count.revision]));
  const lost = acknowledged.filter(({ id, revision, seq, messageId }) => {
    const event = bySeq.get(seq);
    return (
      (store.registry.get(id)?.revision ?? 0) < revision ||
      counts.get(id) !== store.registry.get(id)?.revision ||
      event?.seq !== seq ||
      event.sessionId !== id ||
      store.mailbox.get(messageId)?.sessionId !== id
    );
  });
  expect(lost).toEqual([]);
  expect(store.repairs).toEqual([]);
  await store.close();
  for (const session of store.registry.all())
    expect(await readStateFile(session.identity.outputsDir)).toMatchObject({ status: "good", record: { session } });
}

describe("kill -9", () => {
  test.each(["store.before-commit", "store.after-commit"])(
    "at %s: whatever was acknowledged is there",
    async (point) => {
      await expectAllKept(await runWriter(40));
      writeFileSync(armed, point);
      const lines = await runWriter(Infinity);
      expect([existsSync(armed), lines]).toEqual([false, []]);
      await expectAllKept(lines);
      await expectAllKept(await runWriter(40));
    },
  );

  test("at random moments, again and again: whatever was acknowledged is there", async () => {
    const lines: string[] = [];
    for (let round = 0; round < 12; round += 1) {
      lines.push(...(await runWriter(2 + Math.floor(Math.random() * 120))));
      await expectAllKept(lines);
    }
    expect(lines.length).toBeGreaterThan(50);
  });
});

test.skipIf(!HAS_STRACE)(
  "an fsync that fails is never acknowledged (needs strace and the right to trace)",
  async () => {
    const inject = [
      "strace",
      "-f",
      "-qq",
      "-o",
      "/dev/null",
      "-e",
      "trace=fsync,fdatasync",
      "-e",
      "inject=fsync,fdatasync:error=EIO:when=25+4",
    ];
    // Made beforehand: each migration commits, and it is the writer's own commits that are to fail.
    await home.open();
    await home.close();
    const lines = await runWriter(400, inject);
    const refused = lines.filter((line) => line.includes("refused"));
    expect(new Set(refused)).toEqual(new Set(['{"refused":"store-unwritable"}']));
    await expectAllKept(lines);
  },
);
