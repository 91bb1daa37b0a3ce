import { amend, type Amendment } from "../session/amend.ts";
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { Session } from "../session/session.ts";
import { putSession } from "./change.ts";
import { encodeState, readStateFile } from "./state-file.ts";
import { flat, makeHome, makeSession, nextRevision, STARTED, type TestHome, unbarred } from "./store-fixture.ts";

/** Some tests open hundreds of stores or files; a busy machine takes its time. */
vi.setConfig({ testTimeout: 30_000 });

let home: TestHome;
let session: Session;
let path: string;
beforeEach(async () => {
  home = makeHome();
  session = makeSession(home, "a");
  path = join(session.identity.outputsDir, "state.json");
  const store = await home.open();
  await store.commit({ changes: [putSession(session)], events: [{ sessionId: "a", body: STARTED }] });
  await store.commit({ changes: [putSession(makeSession(home, "b"))] });
  await store.close();
});
afterEach(() => home.remove());

describe("the reader", () => {
  test("takes a file cut at any byte for corrupt", async () => {
    const text = readFileSync(path);
    for (let length = 0; length < text.length; length += 1) {
      writeFileSync(path, text.subarray(0, length));
      expect([length, (await readStateFile(session.identity.outputsDir)).status]).toEqual([length, "corrupt"]);
    }
    writeFileSync(path, text);
    expect(await readStateFile(session.identity.outputsDir)).toEqual({ status: "good", record: { seq: 1, session } });
  });

  test("notices any flipped bit", async () => {
    const text = readFileSync(path);
    for (let at = 0; at < text.length; at += 1) {
      const flipped = Buffer.from(text);
      flipped[at] = (flipped[at] ?? 0) ^ (1 << (at % 8));
      writeFileSync(path, flipped);
      expect([at, (await readStateFile(session.identity.outputsDir)).status]).toEqual([at, "corrupt"]);
    }
  });

  test("does not believe a right checksum alone", async () => {
    const forged = (changes: object): string => sealed({ format: 2, seq: 1, revision: 1, session, ...changes });
    const spoilt = (sections: Readonly<Record<string, object>>): string => {
      const bad = Object.entries(sections).map(([section, fields]) => [
        section,
        { ...session[section as "wish"], ...fields },
      ]);
      return forged({ session: { ...session, ...Object.fromEntries(bad) } });
    };
    const texts = [
      forged({ format: 3 }),
      forged({ format: 0 }),
      forged({ seq: -1 }),
      forged({ seq: 2 ** 53 }),
      forged({ revision: 2 }),
      forged({ session: { ...session, revision: 2 ** 52 }, revision: 2 ** 52 }),
      forged({ session: { ...session, id: "../../etc" } }),
      forged({ session: { ...session, state: "flying" } }),
      forged({ session: { ...session, identity: null } }),
      forged({ session: { ...session, watch: null } }),
      spoilt({ identity: { launch: null } }),
      spoilt({ identity: { launch: { ...session.identity.launch, paths: { PATH: 3 } } } }),
      spoilt({ identity: { createdAt: null } }),
      spoilt({ wish: { desired: "dancing" } }),
      spoilt({
        conversation: { lastTurn: { id: 1, verdict: null, verdictSource: null, error: null, earlier: [] } },
      }),
      spoilt({ conversation: { lastTurn: { id: null, verdict: null, verdictSource: null } } }),
      spoilt({ conversation: { approvals: [{ id: "p" }] } }),
      spoilt({ conversation: { stalledAt: "now" } }),
      spoilt({ conversation: { usage: { inputTokens: 1 } } }),
      spoilt({ watch: { transcriptCursor: { identity: "1:a", offset: -1, isInLongLine: false } } }),
      ...[{ launch: null }, { watch: null }, { turns: -1 }, { stalledAt: "now" }].map((bad) =>
        forged({ format: 1, session: { ...flat(session), ...bad } }),
      ),
      forged({ session: null }),
    ];
    for (const text of texts) {
      writeFileSync(path, text);
      expect([text, (await readStateFile(session.identity.outputsDir)).status]).toEqual([text, "corrupt"]);
    }
    writeFileSync(path, forged({}));
    expect((await readStateFile(session.identity.outputsDir)).status).toBe("good");
  });
});

const NESTED = `${"[".repeat(100_000)}${"]".repeat(100_000)}`;

/** Puts something bad in the place of state.json. */
const DAMAGE: Record<string, () => void> = {
  empty: () => writeFileSync(path, ""),
  "cut in half": () => writeFileSync(path, readFileSync(path, "utf8").slice(0, 200)),
  "runs of NUL": () => writeFileSync(path, Buffer.alloc(1_000)),
  "5 MB": () => writeFileSync(path, "x".repeat(5 * 1024 * 1024)),
  "100,000 nested arrays": () => writeFileSync(path, NESTED),
  "100,000 nested arrays with a right checksum": () =>
    writeFileSync(
      path,
      sealedText(
        `{"format":2,"seq":1,"revision":1,"session":${JSON.stringify(session).slice(0, -1)},"deep":${NESTED}}`,
      ),
    ),
  "a directory": () => replace(() => mkdirSync(path)),
  "a link to elsewhere": () => replace(() => symlinkSync("/etc/hostname", path)),
  "a link to another session": () => replace(() => symlinkSync("../b/state.json", path)),
  "a pipe": () => replace(() => spawnSync("mkfifo", [path])),
  "another session's file": () =>
    writeFileSync(path, readFileSync(join(home.outputsRoot, "agents", "worker", "b", "state.json"))),
};

describe.each(Object.keys(DAMAGE))("state.json is %s", (name) => {
  test("with the database: set aside, said in the log, written again", async () => {
    DAMAGE[name]?.();
    const store = await home.open();
    await store.verified;
    expect(store.repairs).toEqual([]);
    const told = (await store.log.read({ after: 1, limit: 10 })).map(({ sessionId, body }) => ({ sessionId, body }));
    expect(told).toEqual([
      {
        sessionId: "a",
        body: {
          type: "state-file-quarantined",
          path: expect.stringMatching(/state\.json\.corrupt-\d+$/),
          why: expect.any(String),
        },
      },
    ]);
    await store.close();
    expect(await readStateFile(session.identity.outputsDir)).toEqual({ status: "good", record: { seq: 1, session } });
    expect(readdirSync(session.identity.outputsDir).filter((entry) => entry.includes(".corrupt-")).length).toBe(1);
  });

  test("without the database: set aside, and the others are recovered", async () => {
    DAMAGE[name]?.();
    removeDatabase();
    const store = await home.open();
    expect(store.registry.all().map(unbarred)).toEqual([makeSession(home, "b")]);
    expect(store.repairs).toEqual([
      { type: "store-rebuilt", from: home.outputsRoot, sessions: 1, quarantined: "" },
      { type: "state-file-quarantined", path: expect.stringContaining("state.json.corrupt-"), why: expect.any(String) },
    ]);
    await store.commit({ changes: [putSession(session)] });
  });
});

describe("database and state.json disagree", () => {
  test("the file is ahead: the database counts, and the file is set aside", async () => {
    offer({ revision: 7, conversation: { turns: 3 } });
    const store = await home.open();
    await store.verified;
    expect(store.registry.get("a")).toEqual(session);
    expect((await store.log.read({ after: 1, limit: 10 })).map(({ body }) => body)).toEqual([
      {
        type: "state-file-quarantined",
        path: expect.stringMatching(/state\.json\.corrupt-\d+$/),
        why: "it is newer than the database; Reeve trusts the database and took nothing from the file",
      },
    ]);
    await store.commit({ changes: [putSession(nextRevision(session))] });
    await store.close();
    expect(await readStateFile(session.identity.outputsDir)).toMatchObject({
      record: { session: { revision: 2, conversation: { turns: 0 } } },
    });
  });

  test("the file is ahead of a commit made meanwhile: it is not overwritten unread", async () => {
    offer({ revision: 7, conversation: { turns: 3 } });
    const store = await home.open();
    await store.commit({ changes: [putSession(nextRevision(session))] });
    await store.close();
    expect(readdirSync(session.identity.outputsDir).filter((name) => name.includes(".corrupt-"))).toHaveLength(1);
    expect((await home.open()).registry.get("a")).toEqual(nextRevision(session));
  });

  test.each(["with other sessions", "without any"])(
    "a session that the database does not know is set aside and told of, %s",
    async (what) => {
      if (what === "without any") {
        rmSync(home.outputsRoot, { recursive: true });
        removeDatabase();
        await (await home.open()).close();
      }
      const planted = makeSession(home, "planted", { state: "starting" });
      mkdirSync(planted.identity.outputsDir, { recursive: true });
      writeFileSync(join(planted.identity.outputsDir, "state.json"), encodeState({ seq: 500, session: planted }));
      for (const start of ["the first", "the second"]) {
        const store = await home.open();
        await store.verified;
        expect([start, store.registry.get("planted")]).toEqual([start, undefined]);
        expect(store.warnings()).toEqual([expect.stringMatching(/state\.json\.unknown-\d+ describes a session that/)]);
        expect(
          (await store.log.read({ after: 0, limit: 10 })).filter(({ body }) => body.type === "state-file-quarantined"),
        ).toHaveLength(1);
        await store.close();
      }
      rmSync(planted.identity.outputsDir, { recursive: true });
      const store = await home.open();
      await store.verified;
      expect(store.warnings()).toEqual([]);
    },
  );

  test("the database is ahead: the file is written again", async () => {
    offer({ revision: 1, conversation: { turns: 99 } });
    const store = await home.open();
    await store.close();
    expect(await readStateFile(session.identity.outputsDir)).toEqual({ status: "good", record: { seq: 1, session } });
  });

  test.each([
    { runtime: "elsewhere" },
    { launch: { ...makeSession({ outputsRoot: "/" }, "a").identity.launch, args: ["rm"] } },
    { parentId: "b" },
  ])("a file cannot change what a session is: %j", async (changes) => {
    offer({ ...changes, revision: 7 });
    const store = await home.open();
    await store.verified;
    expect(store.registry.get("a")).toEqual(session);
    expect((await store.log.read({ after: 1, limit: 10 })).map(({ body }) => body.type)).toEqual([
      "state-file-quarantined",
    ]);
  });

  test("a missing file is written again", async () => {
    rmSync(session.identity.outputsDir, { recursive: true });
    await (await home.open()).close();
    expect(existsSync(path)).toBe(true);
  });
});

/** Writes another state.json for the session; returns what it says. */
function offer(changes: Amendment): Session {
  const offered = amend(session, changes);
  writeFileSync(path, encodeState({ seq: 500, session: offered }));
  return offered;
}

function replace(make: () => void): void {
  rmSync(path);
  make();
}

function removeDatabase(): void {
  for (const suffix of ["", "-wal", "-shm"]) rmSync(home.databasePath + suffix, { force: true });
}

function sealed(value: unknown): string {
  return sealedText(JSON.stringify(value));
}

function sealedText(json: string): string {
  const head = json.slice(0, -1);
  return `${head},"checksum":"${createHash("sha256").update(head).digest("hex")}"}\n`;
}
