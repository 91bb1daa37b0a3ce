/** Damaged files under living sessions: mended from the other copy, and the sessions are still known. */
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { eventually } from "../support/eventually.ts";
import type { TestHome } from "../support/test-home.ts";
import { createTestHome } from "../support/test-home.ts";

let home: TestHome;
beforeEach(async () => {
  home = createTestHome();
  for (const name of ["one", "two", "three"]) await home.json("start", "command", "--name", name, "--", "sleep", "600");
  await eventually("all run", async () => (await home.list()).every((session) => session.state === "running"));
});
afterEach(() => home.dispose());

const stateFile = async (name: string): Promise<string> =>
  join(String((await home.session(name))["outputs_dir"]), "state.json");

async function stateFilesWritten(): Promise<void> {
  const sessions = await home.list();
  await eventually("the state files are current", () =>
    sessions.every((session) => {
      try {
        const { session: kept } = JSON.parse(
          readFileSync(join(String(session["outputs_dir"]), "state.json"), "utf8"),
        ) as { session: { revision: number } };
        return kept.revision === session["revision"];
      } catch {
        return false;
      }
    }),
  );
}

test.each(["text instead of a database", "nothing at all"])(
  "the database is replaced by %s: every session is known again, with the same process",
  async (what) => {
    await stateFilesWritten();
    const before = (await home.list()).map((session) => [session.name, session.session_id, session.runtime.pid]);
    await home.killDaemon();
    const database = join(home.dir, "reeve.db");
    for (const file of [database, `${database}-wal`, `${database}-shm`]) rmSync(file, { force: true });
    if (what === "text instead of a database") writeFileSync(database, "this is not a database\n".repeat(1_000));
    expect((await home.list()).map((session) => [session.name, session.session_id, session.runtime.pid])).toEqual(
      before,
    );
    expect((await home.list()).map((session) => session.liveness)).toEqual(["running", "running", "running"]);
    expect((await home.events()).map((event) => event.type)).toContain("store-rebuilt");
    expect((await home.json<{ session: { state: string } }>("end", "two")).session.state).toBe("stopped");
  },
);

test("a corrupt state.json is put aside and written anew; the others are not touched", async () => {
  await stateFilesWritten();
  const broken = await stateFile("two");
  const other = await stateFile("one");
  const intact = readFileSync(other, "utf8");
  await home.killDaemon();
  writeFileSync(broken, '{"format":1,"session":');
  expect((await home.list()).map((session) => session.state)).toEqual(["running", "running", "running"]);
  await stateFilesWritten();
  expect(readdirSync(join(broken, "..")).some((name) => name.startsWith("state.json.corrupt-"))).toBe(true);
  expect(readFileSync(other, "utf8")).toBe(intact);
});
