import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, writeFileSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { putSession } from "./change.ts";
import { MIGRATIONS, migrate, schemaVersion } from "./migrations.ts";
import { Sqlite } from "./sqlite.ts";
import { makeHome, makeSession, type TestHome } from "./store-fixture.ts";

const NEXT = [
  ...MIGRATIONS,
  "ALTER TABLE meta ADD COLUMN note TEXT; CREATE TABLE extra (id INTEGER PRIMARY KEY); UPDATE meta SET note = 'moved'",
];

let home: TestHome;
beforeEach(() => {
  home = makeHome();
});
afterEach(() => home.remove());

test("an older schema is brought forward with its rows", async () => {
  const { instance } = await home.open().then(async (store) => (await store.close(), store));
  const db = Sqlite.open(home.databasePath);
  migrate(db, NEXT);
  expect([schemaVersion(db), db.all("SELECT * FROM meta")]).toEqual([
    NEXT.length,
    [{ key: "instance", value: instance, note: "moved" }],
  ]);
  migrate(db, NEXT);
  db.close();
});

test("a script that fails leaves the schema before it", () => {
  const db = Sqlite.open(home.databasePath);
  expect(() => migrate(db, [...NEXT, "CREATE TABLE more (id INTEGER); INSERT INTO nowhere VALUES (1)"])).toThrow(
    "nowhere",
  );
  expect([schemaVersion(db), db.all("SELECT name FROM sqlite_schema WHERE name = 'more'")]).toEqual([NEXT.length, []]);
  db.close();
});

test("a database of a newer version is refused and left alone", async () => {
  const store = await home.open();
  await store.commit({ changes: [putSession(makeSession(home, "a"))] });
  await store.close();
  const db = Sqlite.open(home.databasePath);
  db.exec("PRAGMA user_version=99");
  db.close();
  rmSync(`${home.databasePath}-reserve`);
  const before = readdirSync(dirname(home.databasePath));
  await expect(home.open()).rejects.toMatchObject({ code: "store-too-new", kind: "config" });
  expect(readdirSync(dirname(home.databasePath))).toEqual(before);
});

test.each(["store.mid-migration", "store.before-migration-commit"])("kill -9 at %s leaves the old schema", (point) => {
  const script = join(home.directory, "migrate.ts");
  const armed = join(home.directory, "failpoint");
  writeFileSync(
    script,
    `import { migrate } from ${from("migrations.ts")}; import { Sqlite } from ${from("sqlite.ts")}; migrate(Sqlite.open(process.argv[2]), JSON.parse(process.argv[3]));`,
  );
  const db = Sqlite.open(home.databasePath);
  migrate(db);
  db.close();
  writeFileSync(armed, point);
  const child = spawnSync(process.execPath, [script, home.databasePath, JSON.stringify(NEXT)], {
    env: { ...process.env, REEVE_FAILPOINT_FILE: armed },
    encoding: "utf8",
  });
  expect([child.signal, child.stderr, existsSync(armed)]).toEqual(["SIGKILL", "", false]);
  const after = Sqlite.open(home.databasePath);
  expect([schemaVersion(after), after.all("SELECT name FROM sqlite_schema WHERE name = 'extra'")]).toEqual([
    MIGRATIONS.length,
    [],
  ]);
  migrate(after, NEXT);
  expect(schemaVersion(after)).toBe(NEXT.length);
  after.close();
});

function from(name: string): string {
  return JSON.stringify(join(import.meta.dirname, name));
}
