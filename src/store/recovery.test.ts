import { amend } from "../session/amend.ts";
import {
  closeSync,
  copyFileSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import { randomBytes } from "node:crypto";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { NO_RESTARTS } from "../session/restart-record.ts";
import type { Session } from "../session/session.ts";
import { admitMessage, putSession } from "./change.ts";
import { makeHome, makeMessage, makeSession, nextRevision, STARTED, type TestHome, unbarred } from "./store-fixture.ts";
import { writeStateFile } from "./state-file.ts";

const PAGE = 4_096;

/** Some tests open hundreds of stores or files; a busy machine takes its time. */
vi.setConfig({ testTimeout: 30_000 });

let home: TestHome;
let sessions: readonly Session[];
let instance: string;
beforeEach(async () => {
  home = makeHome();
  sessions = Array.from({ length: 20 }, (_, index) =>
    makeSession(home, `s-${index}`, { identity: { createdAt: 1_000 + index, role: index % 2 ? "worker" : "lead" } }),
  );
  const store = await home.open();
  for (const session of sessions)
    await store.commit({
      changes: [putSession(session), admitMessage(makeMessage(session.id, `m-${session.id}`))],
      events: [{ sessionId: session.id, body: STARTED }],
    });
  instance = store.instance;
  await store.close();
});
afterEach(() => home.remove());

/** Sessions and instance are whole, the log goes on above every number given out, and the store takes commits. */
async function expectRecovered(): Promise<void> {
  const store = await home.open();
  expect(store.registry.all().map(unbarred)).toEqual(sessions);
  expect(store.instance).toBe(instance);
  const [event] = await store.commit({
    changes: [putSession(nextRevision(sessions[0] as Session))],
    events: [{ sessionId: null, body: STARTED }],
  });
  expect(event?.seq).toBeGreaterThan(20);
  expect(await store.log.read({ after: (event?.seq ?? 0) - 1, limit: 10 })).toEqual([event]);
  await store.verified;
  await store.close();
}

const DAMAGE: Record<string, () => void> = {
  "replaced by text": () => writeFileSync(home.databasePath, "this is no database\n".repeat(500)),
  "cut to nothing": () => truncateSync(home.databasePath, 0),
  "cut in a page": () => truncateSync(home.databasePath, PAGE * 2 + 100),
  "cut to one page": () => truncateSync(home.databasePath, PAGE),
  "a directory": () => (rmSync(home.databasePath), mkdirSync(home.databasePath)),
  "a link to nowhere": () => (rmSync(home.databasePath), symlinkSync("/nonexistent/x", home.databasePath)),
  "all zeros": () => writeFileSync(home.databasePath, Buffer.alloc(PAGE * 10)),
  "overwritten at random": () => scribble(1 + Math.floor(Math.random() * (pages() - 1))),
  missing: () => rmSync(home.databasePath),
};

describe.each(Object.keys(DAMAGE))("the database is %s", (name) => {
  test("rebuilt from the state files", async () => {
    DAMAGE[name]?.();
    await expectRecovered();
  });
});

test("any single page may be overwritten", async () => {
  const copy = `${home.databasePath}.copy`;
  copyFileSync(home.databasePath, copy);
  for (let page = 0; page < pages(); page += 1) {
    copyFileSync(copy, home.databasePath);
    scribble(page);
    const store = await home.open();
    expect([page, store.registry.all().map(unbarred)]).toEqual([page, sessions]);
    expect([
      page,
      (await store.log.read({ after: 0, limit: 100 })).every(({ body }) => body.type === "daemon-started"),
    ]).toEqual([page, true]);
    await store.close();
  }
});

test("the damaged database is kept, with what belongs to it, and told of", async () => {
  const text = "this is no database\n".repeat(500);
  writeFileSync(home.databasePath, text);
  const store = await home.open();
  expect(store.repairs).toEqual([
    {
      type: "store-rebuilt",
      from: home.outputsRoot,
      sessions: 20,
      quarantined: expect.stringMatching(/reeve\.db\.corrupt-\d+$/),
    },
  ]);
  const [repair] = store.repairs;
  expect(readFileSync(repair?.type === "store-rebuilt" ? repair.quarantined : "", "utf8")).toBe(text);
});

test("its -wal goes with it", async () => {
  DAMAGE["a directory"]?.();
  writeFileSync(`${home.databasePath}-wal`, "a log");
  await home.open();
  const names = readdirSync(dirname(home.databasePath)).filter((name) => name.includes(".corrupt-"));
  expect(names.map((name) => name.replace(/\d+/, "N")).toSorted()).toEqual([
    "reeve.db.corrupt-N",
    "reeve.db.corrupt-N-wal",
  ]);
});

test("what can still be read is saved: events, messages and sessions without a state.json", async () => {
  rmSync(home.outputsRoot, { recursive: true });
  const copy = `${home.databasePath}.copy`;
  copyFileSync(home.databasePath, copy);
  let whole = 0;
  for (let page = 1; page < pages(); page += 1) {
    copyFileSync(copy, home.databasePath);
    scribble(page);
    const store = await home.open();
    const open = sessions.flatMap(({ id }) => store.mailbox.open(id));
    if (
      store.registry.all().length === 20 &&
      open.length === 20 &&
      (await store.log.read({ after: 0, limit: 99 })).length >= 20
    )
      whole += 1;
    await store.close();
    rmSync(home.outputsRoot, { recursive: true, force: true });
  }
  expect(whole).toBeGreaterThan(0);
});

test("a -wal that was deleted after a kill took commits with it; the state files bring them back at once", async () => {
  const store = await home.open();
  await store.verified;
  const newer = sessions.map((session) => nextRevision(session, { conversation: { turns: 5 } }));
  for (const session of newer) await store.commit({ changes: [putSession(session)] });
  const added = makeSession(home, "new", { identity: { createdAt: 9_999 } });
  const [last] = await store.commit({ changes: [putSession(added)], events: [{ sessionId: "new", body: STARTED }] });
  const killed = join(home.directory, "killed");
  mkdirSync(killed);
  for (const suffix of ["", ".open"])
    copyFileSync(home.databasePath + suffix, join(killed, basename(home.databasePath) + suffix));
  await store.close();
  for (const name of readdirSync(dirname(home.databasePath)))
    if (name.startsWith("reeve.db")) rmSync(join(dirname(home.databasePath), name));
  for (const name of readdirSync(killed)) renameSync(join(killed, name), join(dirname(home.databasePath), name));
  const again = await home.open();
  expect(again.registry.all().map(unbarred)).toEqual([...newer, added]);
  expect(again.registry.all().every(({ wish: { held } }) => held !== null)).toBe(true);
  expect(again.repairs).toEqual([{ type: "store-rebuilt", from: home.outputsRoot, sessions: 21, quarantined: "" }]);
  expect(again.log.head()).toBeGreaterThan(last?.seq ?? Infinity);
});

test("numbers only grow, rebuild after rebuild", async () => {
  let highest = 20;
  let session = sessions[0] as Session;
  for (let round = 0; round < 3; round += 1) {
    for (const suffix of ["", "-wal", "-shm"]) rmSync(home.databasePath + suffix, { force: true });
    const store = await home.open();
    session = nextRevision(session);
    const [event] = await store.commit({
      changes: [putSession(session)],
      events: [{ sessionId: session.id, body: STARTED }],
    });
    expect(event?.seq).toBeGreaterThan(highest);
    highest = event?.seq ?? 0;
    await store.close();
  }
});

test("a moved home is rebuilt where it lies now", async () => {
  rmSync(home.databasePath);
  const outputsRoot = join(home.directory, "moved");
  renameSync(home.outputsRoot, outputsRoot);
  const store = await home.open({ outputsRoot });
  expect(store.registry.all().map(unbarred)).toEqual(
    sessions.map((session) => {
      const { role } = session.identity;
      const { outputsDir } = makeSession({ outputsRoot }, session.id, { identity: { role } }).identity;
      return amend(session, { identity: { outputsDir } });
    }),
  );
});

test("what comes from state.json is held; what was salvaged of the database is not", async () => {
  for (const suffix of ["", "-wal", "-shm"]) rmSync(home.databasePath + suffix, { force: true });
  const lost = await home.open();
  expect(lost.registry.all().map(({ wish: { held } }) => held?.until)).toEqual(sessions.map(() => null));
  await lost.close();
  const known = await home.open();
  expect(known.registry.all().every(({ wish: { held } }) => held !== null)).toBe(true);
  await known.commit({
    changes: [putSession(nextRevision(known.registry.get("s-3") as Session, { wish: { held: null } }))],
  });
  await known.close();
  const copy = `${home.databasePath}.copy`;
  copyFileSync(home.databasePath, copy);
  const isHeld: boolean[] = [];
  for (let page = 1; page < pages(); page += 1) {
    copyFileSync(copy, home.databasePath);
    scribble(page);
    const damaged = await home.open();
    expect(damaged.registry.get("s-3")?.revision).toBe(2);
    isHeld.push(damaged.registry.get("s-3")?.wish.held !== null);
    await damaged.close();
  }
  // It depends on the page whether its row could still be read.
  expect(new Set(isHeld)).toEqual(new Set([true, false]));
});

test("a file gives a salvaged session neither another launch nor a held one its answers", async () => {
  rmSync(home.databasePath);
  const [first, second] = sessions as readonly [Session, Session];
  const asked = { id: "q", kind: "command", title: "rm", subject: null, cwd: null, reason: null } as const;
  const answer = { decision: "approved", stage: "wanted", at: 1, by: "operator", via: null, rule: null } as const;
  for (const [session, changes] of [
    [
      first,
      {
        conversation: { approvals: [{ ...asked, requestedAt: 1, choices: null, concerns: null, answer }] },
        process: { restart: { ...NO_RESTARTS, dueAt: 5 } },
      },
    ],
    [second, { wish: { stop: { next: "restart", graceMs: 0, afterTurn: false, by: null, timedOut: null } } }],
  ] as const)
    await writeStateFile({ seq: 30, session: nextRevision(session, changes) });
  const store = await home.open();
  expect(store.registry.get(first.id)).toMatchObject({
    conversation: { approvals: [{ id: "q", answer: null }] },
    process: { restart: { dueAt: null } },
    reason: { code: "barred", text: expect.stringContaining(`reeve restart ${first.identity.name}`) },
  });
  expect(store.registry.get(second.id)?.wish.stop).toBeNull();
});

test("with everything gone an empty store works", async () => {
  rmSync(home.outputsRoot, { recursive: true });
  rmSync(dirname(home.databasePath), { recursive: true });
  mkdirSync(dirname(home.databasePath));
  const store = await home.open();
  expect([store.registry.all(), store.log.head(), store.repairs]).toEqual([[], 0, []]);
  expect(store.instance).not.toBe(instance);
  await store.commit({ changes: [putSession(sessions[0] as Session)] });
});

test("a database that cannot be opened is refused, not rebuilt", async () => {
  rmSync(dirname(home.databasePath), { recursive: true });
  await expect(home.open()).rejects.toMatchObject({ code: "store-unwritable", kind: "unavailable" });
});

test("damage in a big database that was not closed properly is found in the background, and mended at the next start", async () => {
  const store = await home.open();
  for (let turn = 0; turn < 40; turn += 1)
    await store.commit({
      events: Array.from({ length: 500 }, () => ({ sessionId: "s-1", body: { ...STARTED, version: "x".repeat(100) } })),
    });
  await store.close();
  writeFileSync(`${home.databasePath}.open`, "open\n");
  writeFileSync(`${home.databasePath}-wal`, "");
  scribble(Math.floor(pages() / 2));
  const unaware = await home.open();
  await unaware.verified;
  expect([unaware.repairs, readFileSync(`${home.databasePath}.open`, "utf8")]).toEqual([[], "suspect\n"]);
  await unaware.close();
  const mended = await home.open();
  expect(mended.repairs).toMatchObject([{ type: "store-rebuilt", sessions: 20 }]);
  expect(mended.registry.all().map(unbarred)).toEqual(sessions);
  expect((await mended.log.read({ after: 0, limit: 50_000 })).length).toBeGreaterThan(15_000);
});

function pages(): number {
  return statSync(home.databasePath).size / PAGE;
}

function scribble(page: number): void {
  const file = openSync(home.databasePath, "r+");
  writeSync(file, randomBytes(PAGE), 0, PAGE, page * PAGE);
  closeSync(file);
}
