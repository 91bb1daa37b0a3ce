/** A session's story, its archive, and that archive brought back, with the practice agent and the real CLI. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { eventually } from "../support/eventually.ts";
import { createTestHome, type TestHome } from "../support/test-home.ts";

let home: TestHome;

beforeEach(() => {
  home = createTestHome();
});

const followers: ChildProcess[] = [];

afterEach(async () => {
  for (const child of followers.splice(0)) child.kill("SIGKILL");
  await home.dispose();
});

interface Story {
  readonly session: { readonly name: string } | null;
  readonly imported: { readonly import_id: string } | null;
  readonly entries: readonly {
    readonly source: string;
    readonly seq: number;
    readonly kind: string;
    readonly type: string;
    readonly turn: number | null;
    readonly what: string;
  }[];
  readonly cursor: string;
}

test("show, export and import", async () => {
  await home.run(["start", "practice", "hello", "--name", "told", "--wait"], { cwd: home.dir });
  const types = ({ entries }: Story): readonly string[] => entries.map(({ type }) => type);
  const living = await home.json<Story>("show", "told");
  expect(types(living)).toEqual(expect.arrayContaining(["session-planned", "turn-started", "said", "turn-completed"]));
  expect(living.entries.filter(({ type }) => type === "said").map(({ turn }) => turn)).toEqual([1, 1]);
  expect(types(await home.json<Story>("show", "told", "--since", living.cursor))).toEqual([]);

  await home.run(["end", "told", "--when", "now"]);
  const ended = await home.json<Story>("show", "told", "--only", "turns,session");
  expect(types(ended)).toEqual(expect.arrayContaining(["turn-completed", "session-stopped"]));
  expect(types(await home.json<Story>("show", "told", "--last", "1"))).toEqual(types(ended).slice(-1));
  const shown = await home.run(["show", "told", "--turn", "1"]);
  // On a busy machine the answer may be in the transcript before the hook that tells of the turn was read.
  expect(shown.stdout).toMatch(/^\S+ +user +"hello"\n(?:\S+ +agent +".*\n)?\S+ +agent +turn 1 began\n/);

  const archive = join(home.dir, "told.tar.gz");
  const exported = await home.run(["export", "told"], { cwd: home.dir });
  expect(exported.stdout).toMatch(/^Exported told to .*told\.tar\.gz \(\d+ files, .*\)\.\n$/);
  expect((await home.run(["export", "told"], { cwd: home.dir })).status).toBe(1);
  expect((await home.events()).at(-1)).toMatchObject({ type: "session-exported", caller: "operator" });

  const sessions = await home.list();
  const imported = await home.json<{ import_id: string; report: string }>("import", archive);
  const brought = await home.json<Story>("show", imported.import_id);
  expect(types(brought)).toEqual(
    types(await home.json<Story>("show", "told")).filter((type) => type !== "session-exported"),
  );
  expect(brought).toMatchObject({ session: null, imported: { import_id: imported.import_id } });
  expect(readFileSync(imported.report, "utf8")).toContain("told (imported)");
  expect(await home.list()).toEqual(sessions);
  expect((await home.run(["restart", imported.import_id])).stderr).toContain("There is no session");

  writeFileSync(archive, readFileSync(archive).subarray(0, 2_000));
  const refused = await home.run(["import", archive]);
  expect(refused).toMatchObject({ status: 2, stderr: expect.stringContaining("Nothing of it was kept") as string });
  await home.run(["import", "--remove", imported.import_id]);
  expect(await home.json("import", "--list")).toEqual({ imports: [] });
  expect(readdirSync(join(home.dir, "outputs", "imported"))).toEqual([]);

  for (const [args, sentence] of [
    [["show", "nobody"], 'There is no session "nobody"'],
    [["show", "told", "--only", "turn"], "did you mean turns?"],
    [["show", "told", "--since", "soon"], "--since needs a time"],
    [["import"], "Give import an archive"],
    [["export", "told", "-o", "/nowhere/x.tar.gz"], "could not be written"],
  ] as const)
    expect((await home.run(args)).stderr).toContain(sentence);
});

const BIN = join(import.meta.dirname, "..", "..", "bin", "reeve");

function following(...args: readonly string[]): { text(): string; readonly ended: Promise<number> } {
  const child = spawn(BIN, ["show", "told", "--follow", ...args], {
    env: home.environment,
    stdio: ["ignore", "pipe", "inherit"],
  });
  followers.push(child);
  let text = "";
  child.stdout.on("data", (bytes: Buffer) => (text += bytes.toString("utf8")));
  const ended = once(child, "close").then(([status]) => Number(status));
  return { text: () => text, ended };
}

test("show --follow prints what happens as it happens, until the session ends, over a killed daemon", async () => {
  await home.run(["start", "practice", "hello", "--name", "told", "--wait"], { cwd: home.dir });
  const all = following("--json", "--last", "1");
  const turns = following("--only", "turns", "--last", "1");
  await eventually("both follow", () => all.text() !== "" && turns.text() !== "");
  await home.run(["send", "told", "tell me more", "--wait"]);
  const told = (): Story["entries"] =>
    all
      .text()
      .split("\n")
      .slice(0, -1)
      .map((line) => JSON.parse(line) as Story["entries"][number]);
  const types = (): readonly string[] => told().map(({ type }) => type);
  await eventually(
    "the second turn and what was said are told",
    () =>
      ["turn-started", "turn-completed"].every((type) => types().includes(type)) && all.text().includes("tell me more"),
  );
  await home.killDaemon();
  await home.run(["send", "told", "fail", "--wait"]);
  await eventually("the third turn is told", () => types().includes("turn-failed"));
  await home.run(["end", "told", "--when", "now", "--grace", "0"]);
  expect(await Promise.all([all.ended, turns.ended])).toEqual([0, 0]);
  // Each once, and nothing of these turns is missing.
  const keys = told().map(({ source, seq }) => `${source} ${seq}`);
  expect(new Set(keys).size).toBe(keys.length);
  const { entries } = await home.json<Story>("show", "told");
  const later = entries.filter(({ turn }) => (turn ?? 0) > 1).map(({ source, seq }) => `${source} ${seq}`);
  expect(keys).toEqual(expect.arrayContaining(later));
  expect(turns.text().match(/turn \d began/g)).toEqual(["turn 2 began", "turn 3 began"]);
  expect(turns.text()).not.toContain("tell me more");
  // One that has ended is not waited for.
  expect((await home.run(["show", "told", "--follow"])).status).toBe(0);
});
