/**
 * kill -9 at random moments of an export and of an import: of the daemon, of the
 * command, or of both. An archive is there whole or not at
 * all, an import is listed whole or not at all, and whoever enters the command
 * again gets what they asked for, with nothing left beside it.
 * REEVE_TEST_KILLS=… is how often, REEVE_TEST_SEED=… the same moments again.
 */
import { spawn, spawnSync } from "node:child_process";
import { createHash, randomBytes } from "node:crypto";
import { once } from "node:events";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { eventually } from "../support/eventually.ts";
import { createTestHome, type TestHome } from "../support/test-home.ts";
import { createRandom } from "../truth/random.ts";

const BIN = join(import.meta.dirname, "..", "..", "bin", "reeve");
const KILLS = Number(process.env["REEVE_TEST_KILLS"] ?? 4);
const SEED = process.env["REEVE_TEST_SEED"] ?? "archives";

let home: TestHome;
beforeAll(async () => {
  home = createTestHome();
  await home.run(["start", "practice", "hello", "--name", "told", "--persist-session", "--wait"], { cwd: home.dir });
  await home.run(["end", "told", "--when", "now", "--grace", "0"]);
  // Enough that there is a middle to be killed in.
  const directory = String((await home.session("told"))["outputs_dir"]);
  writeFileSync(join(directory, "debug.log"), randomBytes(6_000_000).toString("base64"));
});
afterAll(() => home.dispose());

/** Runs it until it ends, or is killed after so long; true if it ended well. */
async function killed(args: readonly string[], afterMs: number, who: "daemon" | "command" | "both"): Promise<boolean> {
  const child = spawn(BIN, args, { env: home.environment, stdio: "ignore" });
  const ended = once(child, "exit");
  const timer = setTimeout(() => {
    if (who !== "daemon") child.kill("SIGKILL");
    if (who !== "command") home.killRunningDaemon();
  }, afterMs);
  const [status] = (await ended) as [number | null];
  clearTimeout(timer);
  return status === 0;
}

/** How long it takes when nobody is killed. */
async function timed(work: () => Promise<unknown>): Promise<number> {
  const from = performance.now();
  await work();
  return performance.now() - from;
}

const beside = (name: string): readonly string[] => readdirSync(home.dir).filter((one) => one.startsWith(`.${name}`));

/** gzip checks every byte, and the manifest is the last file in it. */
function expectWhole(archive: string): void {
  const { status, stdout } = spawnSync("tar", ["-tzf", archive], { encoding: "utf8" });
  expect([status, stdout.trimEnd().split("\n").at(-1)]).toEqual([0, expect.stringMatching(/\/manifest\.json$/)]);
}

test(`an export, killed ${KILLS} times`, { timeout: 60_000 + KILLS * 30_000 }, async () => {
  const random = createRandom(`${SEED} export`);
  const usual = await timed(() => home.json("export", "told", "--output", join(home.dir, "usual.tar.gz")));
  for (let round = 1; round <= KILLS; round += 1) {
    const name = `round-${round}.tar.gz`;
    const archive = join(home.dir, name);
    const who = random.pick(["daemon", "command", "both"] as const);
    const isDone = await killed(["export", "told", "--output", archive], random.next() * usual * 1.2, who);
    if (existsSync(archive)) expectWhole(archive);
    else expect(isDone).toBe(false);
    const again = await home.run(["export", "told", "--output", archive]);
    // Of a command that was killed the daemon may have written the archive all the same.
    if (again.status !== 0) expect(again.stderr).toContain("is not overwritten");
    expectWhole(archive);
    await eventually(`nothing is left beside it (${who}, round ${round})`, () => beside(name).length === 0);
  }
});

test(`an import, killed ${KILLS} times`, { timeout: 60_000 + KILLS * 30_000 }, async () => {
  interface Import {
    readonly import_id: string;
    readonly directory: string;
  }
  const random = createRandom(`${SEED} import`);
  const archive = join(home.dir, "imported.tar.gz");
  await home.json("export", "told", "--output", archive);
  const listed = async (): Promise<readonly Import[]> =>
    (await home.json<{ imports: readonly Import[] }>("import", "--list")).imports;
  const root = join(home.dir, "outputs", "imported");
  const usual = await timed(() => home.json("import", archive));
  for (let round = 1; round <= KILLS; round += 1) {
    const who = random.pick(["daemon", "command", "both"] as const);
    const before = (await listed()).length;
    const isDone = await killed(["import", archive], random.next() * usual * 1.2, who);
    if (isDone) expect(await listed()).toHaveLength(before + 1);
    for (const { directory } of await listed()) expectUnpacked(directory);
    const { import_id: id } = await home.json<Import>("import", archive);
    const names = (await listed()).map(({ import_id: one }) => one);
    expect(names).toContain(id);
    // Of a command that was killed the daemon may still be at work.
    await eventually(`nothing else is there (${who}, round ${round})`, async () => {
      const whole = (await listed()).map(({ import_id: one }) => one);
      return readdirSync(root).toSorted().join() === whole.toSorted().join();
    });
    for (const { import_id: one, directory } of await listed()) {
      expectUnpacked(directory);
      await home.json("import", "--remove", one);
    }
    expect(readdirSync(root)).toEqual([]);
  }
});

/** Each file is there as its manifest says, and so is the report. */
function expectUnpacked(directory: string): void {
  const { manifest } = JSON.parse(readFileSync(join(directory, "import.json"), "utf8")) as {
    manifest: { files: readonly { path: string; sha256: string }[] };
  };
  const found = manifest.files
    .filter(({ path }) => path !== "report.html")
    .map(({ path }) => ({
      path,
      sha256: createHash("sha256")
        .update(readFileSync(join(directory, path)))
        .digest("hex"),
    }));
  expect(manifest.files.length).toBeGreaterThan(5);
  expect(manifest.files).toMatchObject(
    expect.arrayContaining(found.map((one) => expect.objectContaining(one) as object)),
  );
  expect(readFileSync(join(directory, "report.html"), "utf8")).toMatch(/<\/html>\s*$/);
}
