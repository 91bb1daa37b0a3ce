/**
 * Through the command line and MCP, over kills of the daemon, and
 * with a vector store that is not there, is another version, or (with
 * REEVE_TEST_CHROMA=<a directory with chromadb in its node_modules>) is a real
 * Chroma server that is killed and started again during a thousand writes.
 */
import { closeSync, mkdirSync, openSync, readdirSync, readFileSync, writeSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { CHROMA, startChroma } from "../support/chroma-server.ts";
import { clientOf, operatorOf, startSleeper } from "../support/session-caller.ts";
import { eventually } from "../support/eventually.ts";
import type { TestHome } from "../support/test-home.ts";
import { createTestHome } from "../support/test-home.ts";

const WRITES = Number(process.env["REEVE_TEST_MEMORIES"] ?? 1_000);

let home: TestHome;
let project: string;
beforeEach(() => {
  home = createTestHome();
  project = join(home.dir, "project");
  mkdirSync(join(project, ".git"), { recursive: true });
});
afterEach(() => home.dispose(), 60_000);

interface Found {
  readonly found: readonly { readonly memory_id: string; readonly text: string; readonly session_id: string | null }[];
  readonly note: string | null;
}

const found = async (text: string): Promise<Found> =>
  await home.json<Found>("memory", "search", text, "--cwd", project);

interface Check {
  readonly what: string;
  readonly status: string;
  readonly detail: string;
}

const chromaCheck = async (): Promise<Check | undefined> => {
  const { stdout } = await home.run(["doctor", "--json"]);
  return (JSON.parse(stdout) as { readonly checks: readonly Check[] }).checks.find(({ what }) => what === "chroma");
};

test(
  "it is added, found, listed and forgotten on the command line, and by a session",
  { timeout: 60_000 },
  async () => {
    const added = await home.run(["memory", "add", "The parser tests need TZ=UTC", "--tag", "tests"], { cwd: project });
    expect(added).toMatchObject({
      status: 0,
      stdout: expect.stringMatching(/^Remembered as memory-\w+ for /) as unknown,
    });
    const worker = await clientOf(home, await startSleeper(home, "worker", "--role", "builder", "--cwd", project));
    await worker.addMemory({ text: "The parser is in src/parse.ts", kind: "thought", commit: "abcdef1" });
    await worker.addMemory({ text: "A parser for everybody", scope: "project" });

    expect((await worker.searchMemory({ text: "parser" })).found).toHaveLength(3);
    const shown = await home.run(["memory", "search", '"parser tests"'], { cwd: project });
    expect(shown.stdout).toContain("| The parser tests need TZ=UTC");
    const { found: hits } = await found("src/parse.ts");
    expect(hits).toMatchObject([{ session_id: (await home.session("worker")).session_id }]);

    // A kill in the middle of a write: the repeat finds it, or writes it, once.
    const caller = operatorOf(home, { enduranceMs: 60_000 });
    for (const point of ["memory.before-commit", "memory.after-commit"]) {
      home.failAt(point);
      home.expectDeath(await home.daemonPid());
      await caller.addMemory({ text: `killed ${point}`, cwd: project }, { idempotencyKey: point });
      await eventually("the daemon met the point", () => !home.isFailpointArmed());
    }
    expect((await found("killed")).found).toHaveLength(2);

    const [first] = hits;
    expect(await home.run(["memory", "forget", first?.memory_id ?? ""])).toMatchObject({ status: 0 });
    expect((await found("src/parse.ts")).found).toEqual([]);
    expect(await home.run(["memory", "search", "!!"], { cwd: project })).toMatchObject({ status: 2 });
  },
);

test(
  "a vector store that is absent or speaks another version keeps nothing from working",
  { timeout: 60_000 },
  async () => {
    const server = createServer((_request, response) => void response.writeHead(410).end("{}"));
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as AddressInfo;
    home.configure(`[memory]\nchroma = "http://127.0.0.1:${port}"\n`);
    await home.json("memory", "add", "one word", "--cwd", project);
    const other = await eventually("doctor says so", async () => {
      const check = await chromaCheck();
      return check?.status === "warning" ? check : null;
    });
    expect(other.detail).toContain("does not speak version 2");
    expect(other.detail).toContain("1 changes wait");
    expect((await found("word")).found).toHaveLength(1);

    await home.run(["daemon", "stop"]);
    await new Promise((resolve) => server.close(resolve));
    await home.json("memory", "add", "another word", "--cwd", project);
    const absent = await eventually("doctor says so", async () => {
      const check = await chromaCheck();
      return check?.status === "warning" ? check : null;
    });
    expect(absent.detail).toContain("could not be reached");
    expect(absent.detail).toContain("2 changes wait");
    const both = await found("word");
    expect(both.found).toHaveLength(2);
    expect(both.note).toContain("Only words were looked for");
  },
);

test("a damaged file is mended, the operator is told, and everything else goes on", { timeout: 60_000 }, async () => {
  for (const word of ["one", "two", "three"]) await home.json("memory", "add", `${word} word`, "--cwd", project);
  await startSleeper(home, "worker");
  await home.run(["daemon", "stop"]);
  const path = join(home.dir, "memory.db");
  const file = openSync(path, "r+");
  writeSync(file, Buffer.alloc(4_096, 0xee), 0, 4_096, 0);
  closeSync(file);

  expect(await home.session("worker")).toMatchObject({ state: "running" });
  expect((await found("word")).found).toHaveLength(3);
  await home.json("memory", "add", "four word", "--cwd", project);
  const { checks } = JSON.parse((await home.run(["doctor", "--json"])).stdout) as { readonly checks: readonly Check[] };
  expect(checks).toContainEqual(
    expect.objectContaining({
      status: "warning",
      detail: expect.stringMatching(
        /memory\.db was damaged .*3 memories could be read .*memory\.db\.damaged-1/,
      ) as unknown,
    }),
  );
  expect(readFileSync(join(home.dir, "daemon.log"), "utf8")).toContain("memory.db was damaged");
  expect(readdirSync(home.dir)).toContain("memory.db.damaged-1");

  // A restart finds a sound file.
  await home.killDaemon();
  expect((await found("word")).found).toHaveLength(4);
  expect(readdirSync(home.dir)).not.toContain("memory.db.damaged-2");
});

test.skipIf(CHROMA === undefined)(
  `a real Chroma is killed and started again during ${WRITES} writes: none lost, none doubled`,
  { timeout: 120_000 + WRITES * 200 },
  async () => {
    const chroma = await startChroma(home.dir);
    const { url } = chroma;
    home.configure(`[memory]\nchroma = "${url}"\n`);
    try {
      const caller = operatorOf(home, { enduranceMs: 60_000 });
      const ids = new Set<string>();
      for (let at = 0; at < WRITES; at += 1) {
        const memory = await caller.addMemory({ text: `entry number${at} about parsers`, cwd: project });
        ids.add(memory.memory_id);
        if (at % Math.ceil(WRITES / 4) === Math.ceil(WRITES / 8)) await chroma.stop();
        if (at % Math.ceil(WRITES / 4) === Math.ceil(WRITES / 6)) await chroma.start();
        if (at === Math.floor(WRITES / 2)) await home.killDaemon();
      }
      expect(ids.size).toBe(WRITES);
      await eventually(
        "everything is told",
        async () => (await chromaCheck())?.detail.includes("it has every memory"),
        90_000,
      );
      expect(await idsInChroma(url)).toEqual([...ids].toSorted());

      // Alike, without the word itself.
      const near = await found("parser");
      expect(near.found.length).toBeGreaterThan(0);
      expect(near.note).toBeNull();
      const [gone] = ids;
      await home.run(["memory", "forget", gone ?? ""]);
      await eventually(
        "it is forgotten there, too",
        async () => !(await idsInChroma(url)).includes(gone ?? ""),
        60_000,
      );
    } finally {
      await chroma.stop();
    }
  },
);

async function idsInChroma(url: string): Promise<readonly string[]> {
  const base = `${url}/api/v2/tenants/default_tenant/databases/default_database/collections`;
  const collections = (await (await fetch(base)).json()) as readonly { readonly id: string }[];
  expect(collections).toHaveLength(1);
  const response = await fetch(`${base}/${collections[0]?.id}/get`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ limit: 100_000, include: [] }),
  });
  return ((await response.json()) as { readonly ids: readonly string[] }).ids.toSorted();
}
