/**
 * kill -9 during an export or an import, at each point. Of the
 * daemon: the command succeeds, and nothing is left of the first try. Of the
 * command with it: whoever enters it again gets what they asked for.
 */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { TestHome } from "../support/test-home.ts";
import { createTestHome } from "../support/test-home.ts";
import { fetchOver } from "../support/socket-fetch.ts";
import { crashingAt } from "./crashing.ts";

let home: TestHome;
beforeAll(async () => {
  home = createTestHome();
  await home.run(["start", "practice", "hello", "--name", "told", "--persist-session", "--wait"], { cwd: home.dir });
  await home.run(["end", "told", "--when", "now", "--grace", "0"]);
});
afterAll(() => home.dispose());

const archiveAt = (point: string): string => join(home.dir, `${point}.tar.gz`);
const beside = (): readonly string[] =>
  readdirSync(home.dir).filter((name) => name.startsWith(".") && /\.tar\.gz/.test(name));
const imported = (): readonly string[] => readdirSync(join(home.dir, "outputs", "imported"));
const exports = async (): Promise<number> =>
  (await home.events()).filter(({ type }) => type === "session-exported").length;

test.each(["export.begun", "export.written", "export.named", "export.noted"])("killed at %s", async (point) => {
  const before = await exports();
  let exported: { bytes?: number; files?: number; output?: string } = {};
  await crashingAt(home, point, async () => {
    exported = await home.json("export", "told", "--output", archiveAt(point));
  });
  expect(exported.output).toBe(archiveAt(point));
  expect(beside()).toEqual([]);
  // Told of once, and it is whole.
  expect(await exports()).toBe(before + 1);
  const { import_id: id } = await home.json<{ import_id: string }>("import", archiveAt(point));
  await home.run(["import", "--remove", id]);
  expect((await home.run(["export", "told", "--output", archiveAt(point)])).stderr).toContain("is not overwritten");
});

test.each(["import.begun", "import.unpacked", "import.whole", "import.named"])("killed at %s", async (point) => {
  const archive = archiveAt("whole");
  if (!existsSync(archive)) await home.json("export", "told", "--output", archive);
  let id = "";
  await crashingAt(home, point, async () => {
    id = (await home.json<{ import_id: string }>("import", archive)).import_id;
  });
  const { imports } = await home.json<{ imports: readonly { import_id: string }[] }>("import", "--list");
  expect(imports.map(({ import_id: of }) => of)).toEqual([id]);
  expect(imported()).toEqual([id]);
  expect((await home.run(["show", id])).stdout).toContain("turn 1 completed");
  await home.run(["import", "--remove", id]);
  expect(imported()).toEqual([]);
});

/** As a command that is killed together with the daemon: nobody asks again. */
async function once(point: string, path: string, body: object): Promise<void> {
  const before = await home.daemonPid();
  home.expectDeath(before);
  home.failAt(point);
  const post = { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) };
  await expect(fetchOver(home.socketPath)(`http://localhost${path}`, post)).rejects.toThrow();
  expect(home.isFailpointArmed()).toBe(false);
}

test.each([
  ["export.begun", false],
  ["export.written", false],
  ["export.named", true],
  ["export.noted", true],
])(
  "killed at %s with the command: no archive or a whole one (%s), also after it is entered again",
  async (point, isThere) => {
    const archive = archiveAt(`${point}-again`);
    await once(point, "/v1/sessions/told/export", { output: archive });
    expect(existsSync(archive)).toBe(isThere);
    if (isThere) await takenIn(archive);
    expect(await home.run(["export", "told", "--output", archive])).toMatchObject({ status: 0 });
    expect(beside()).toEqual([]);
    await takenIn(archive);
  },
);

async function takenIn(archive: string): Promise<void> {
  const { import_id: id } = await home.json<{ import_id: string }>("import", archive);
  expect((await home.run(["show", id])).stdout).toContain("turn 1 completed");
  await home.run(["import", "--remove", id]);
  expect(imported()).toEqual([]);
}

test.each([
  ["import.begun", 0],
  ["import.unpacked", 0],
  ["import.whole", 0],
  ["import.named", 1],
])("killed at %s with the command: %s imports are listed, and it can be imported again", async (point, whole) => {
  const archive = archiveAt("whole");
  if (!existsSync(archive)) await home.json("export", "told", "--output", archive);
  await once(point, "/v1/imports", { path: archive });
  const listed = async (): Promise<readonly string[]> => {
    const { imports } = await home.json<{ imports: readonly { import_id: string }[] }>("import", "--list");
    return imports.map(({ import_id: id }) => id);
  };
  expect(await listed()).toHaveLength(whole);
  const { import_id: id } = await home.json<{ import_id: string }>("import", archive);
  expect(await listed()).toHaveLength(whole + 1);
  expect(imported().toSorted()).toEqual((await listed()).toSorted());
  expect((await home.run(["show", id])).stdout).toContain("turn 1 completed");
  for (const one of await listed()) await home.run(["import", "--remove", one]);
  expect(imported()).toEqual([]);
});

test.each(["import-removal.begun", "import-removal.emptied"])(
  "killed at %s: the command succeeds, and nothing of it is left",
  async (point) => {
    const archive = archiveAt("whole");
    if (!existsSync(archive)) await home.json("export", "told", "--output", archive);
    const { import_id: id } = await home.json<{ import_id: string }>("import", archive);
    await crashingAt(home, point, async () => {
      expect(await home.json("import", "--remove", id)).toMatchObject({ import_id: id, name: "told" });
    });
    expect(imported()).toEqual([]);
    expect((await home.run(["import", "--remove", id])).stderr).toContain("Nothing was imported");
  },
);

test.each(["traces.begun", "traces.written", "traces.named"])(
  "reeve export --otlp FILE killed at %s: no file or a whole one, and all of it when it is entered again",
  async (point) => {
    const file = join(home.dir, `${point}.json`);
    home.failAt(point);
    expect((await home.run(["export", "told", "--otlp", file])).status).toBeNull();
    expect(home.isFailpointArmed()).toBe(false);
    const isWhole = (): boolean => "resourceSpans" in (JSON.parse(readFileSync(file, "utf8")) as object);
    expect(!existsSync(file) || isWhole()).toBe(true);
    expect(await home.run(["export", "told", "--otlp", file])).toMatchObject({ status: 0 });
    expect(isWhole()).toBe(true);
    expect(readdirSync(home.dir).filter((name) => name.startsWith(`.${point}`))).toEqual([]);
  },
);
