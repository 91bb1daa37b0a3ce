/** What is kept of a session besides its traffic and its terminal, with a real store and real files. */
import { spawnSync } from "node:child_process";
import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { eventually } from "../../../test/support/eventually.ts";
import { makeLaunch } from "../../agent/agent-fixture.ts";
import type { Agent } from "../../agent/contract.ts";
import { localFiles } from "../../runtime/local-files.ts";
import type { Runtime } from "../../runtime/contract.ts";
import type { Input } from "../../session/input.ts";
import type { Message } from "../../session/message.ts";
import type { Reading } from "../../session/reading.ts";
import { agentWith, type Ground, makeGround, SECRET } from "../attention/watch-fixture.ts";
import { createPersistence, type Persistence } from "./persistence.ts";

const disposals: (() => unknown)[] = [];
afterEach(async () => {
  for (const dispose of disposals.splice(0).toReversed()) await dispose();
});

interface Kept {
  ground: Ground;
  persistence: Persistence;
  /** The daemon dies, without writing anything more, and the next one begins. */
  next(): Promise<void>;
}

const ENVIRONMENT = { PATH: "/bin", HOME: "/h", LANG: "C", API_KEY: SECRET, INLINE_HOME: "/i" };

async function makeKept(
  changes: Partial<Agent> = {},
  { mostBytes, knowsSecrets = true }: { readonly mostBytes?: number; readonly knowsSecrets?: boolean } = {},
): Promise<Kept> {
  const agent = agentWith({ pathVariables: ["INLINE_HOME"], ...changes });
  const persistence = { capture: "none", debugLog: null } as const;
  const own = await makeGround(agent, { identity: { launch: makeLaunch({ persistence, cwd: tmpdir() }) } });
  const kept: Kept = {
    ground: own,
    persistence: begin(own),
    async next() {
      // Nothing is flushed: what it had in memory is gone.
      kept.ground = await kept.ground.restart();
      kept.persistence = begin(kept.ground);
    },
  };
  disposals.push(
    () => kept.ground.dispose(),
    () => kept.persistence.close(),
  );

  function begin({ parts, store, ledger, session }: Ground): Persistence {
    const runtime = {
      files: localFiles,
      requireReady: async () => "toy 1",
      environmentOf: async () => ENVIRONMENT,
    } as unknown as Runtime;
    const persistence = createPersistence({
      ...parts,
      store,
      runtime: () => runtime,
      // As attention tells them: not any more once the process is gone.
      secrets: async () => (knowsSecrets && session().process.exit === null ? [{ value: SECRET }] : null),
      ...(mostBytes === undefined ? {} : { mostBytes }),
    });
    ledger.onCommit(() => persistence.attend(session()));
    persistence.start("1.2.3");
    persistence.attend(session());
    return persistence;
  }
  return kept;
}

const directoryOf = ({ ground }: Kept): string => ground.session().identity.outputsDir;
const read = (reading: Partial<Reading>): Input => ({
  type: "read",
  incarnation: 1,
  reading: { source: "hook", detail: "a hook", ...reading },
});

interface Line {
  readonly seq: number;
  readonly kind: string;
  readonly [field: string]: unknown;
}

function linesOf(kept: Kept, name: string): readonly Line[] {
  const path = join(directoryOf(kept), name);
  const texts = [`${path}.1`, path].filter((file) => existsSync(file)).map((file) => readFileSync(file, "utf8"));
  return texts
    .join("")
    .split("\n")
    .flatMap((text) => {
      try {
        return [JSON.parse(text) as Line];
      } catch {
        return [];
      }
    });
}

async function expectAll(kept: Kept): Promise<void> {
  const { log } = kept.ground.store;
  await eventually("every event is in session.log, once and in order", async () => {
    const events = await log.read({ after: 0, limit: 10_000, sessionIds: ["s"] });
    const seqs = linesOf(kept, "session.log").flatMap(({ kind, seq }) => (kind === "log" ? [] : [seq]));
    return JSON.stringify(seqs) === JSON.stringify(events.map(({ seq }) => seq));
  });
}

const approval = { id: "p", kind: "command", title: "Run: rm", subject: "rm", cwd: null, reason: null } as const;

async function anAfternoon({ ground }: Kept): Promise<void> {
  await ground.apply(read({ turn: { phase: "started", id: "a" } }));
  await ground.apply(read({ approval: { requested: approval } }));
  await ground.ledger.apply(
    "s",
    { type: "answer", approvalId: "p", decision: "denied" },
    { caller: { kind: "session", id: "boss", via: "mcp" } },
  );
  await ground.apply({ type: "answer-given", incarnation: 1, approvalId: "p" });
  await ground.apply(read({ approval: { settled: { id: "p", decision: "denied" } } }));
  // What is taken back in between does not hide who denied it.
  const waiting = { id: "m", sessionId: "s", text: "x", submit: true, how: "queue", caller: "operator" } as const;
  await ground.ledger.admit({ ...waiting, state: "admitted", admittedAt: 1, settled: null, detail: null });
  await ground.ledger.withdraw(ground.store.mailbox.get("m") as Message, { caller: { kind: "operator", via: "cli" } });
  await ground.apply(read({ turn: { phase: "interrupted", id: "a" } }));
  await ground.apply(read({ turn: { phase: "started", id: "b" }, setup: { model: "m", mode: "default" } }));
  await ground.apply(read({ setup: { model: `n ${SECRET}` } }));
  await ground.apply(read({ approval: { requested: { ...approval, id: "q" } } }));
  await ground.apply(read({ approval: { settled: { id: "q", decision: "approved" } } }));
  await ground.apply(read({ turn: { phase: "failed", id: "b", error: "429", failure: "model-error" } }));
  await ground.apply(read({ turn: { phase: "started", id: "c" } }));
  await ground.apply(read({ turn: { phase: "interrupted", id: "c" } }));
}
const EVIDENCE = { source: "runtime", detail: "seen", at: 1 } as const;

const AFTERNOON = [
  { kind: "approval-asked", actor: "agent", turn: 1, approval_id: "p", title: "Run: rm" },
  { kind: "approval-answered", actor: "session:boss", via: "mcp", turn: 1, decision: "denied", rule: null },
  { kind: "message-cancelled", actor: "operator", via: "cli", turn: 1, message_id: "m" },
  { kind: "interrupted", actor: "session:boss", via: "mcp", turn: 1 },
  { kind: "model-changed", actor: null, via: null, turn: 2, from: "m", to: "n [redacted]" },
  { kind: "approval-asked", actor: "agent", turn: 2, approval_id: "q" },
  { kind: "approval-answered", actor: "terminal", via: "terminal", turn: 2, decision: "approved" },
  { kind: "turn-failed", actor: "agent", via: "agent", turn: 2, error: "429", failure: "model-error" },
  { kind: "interrupted", actor: "terminal", turn: 3 },
];

test("session_meta.log says what happened in order, with who did it; session.log has every event, without secrets", async () => {
  const kept = await makeKept();
  await anAfternoon(kept);
  kept.persistence.hear("something was tried", { session: "s", key: SECRET, why: new Error("no") });
  kept.persistence.hear("about another", { session: "other" });
  await eventually("it is written", () => linesOf(kept, "session_meta.log").length === AFTERNOON.length);
  expect(linesOf(kept, "session_meta.log")).toMatchObject(AFTERNOON);
  await expectAll(kept);
  const [logged] = await eventually("the daemon's log is in it", () => {
    const found = linesOf(kept, "session.log").filter(({ kind }) => kind === "log");
    return found.length > 0 ? found : null;
  });
  expect(logged).toMatchObject({ message: "something was tried", fields: { why: "no" } });
  for (const { v, at, mono_ms: mono } of linesOf(kept, "session_meta.log"))
    expect([v, typeof at, typeof mono]).toEqual([1, "string", "number"]);
  for (const name of readdirSync(directoryOf(kept)).filter((one) => one.endsWith("log"))) {
    expect(readFileSync(join(directoryOf(kept), name), "utf8")).not.toContain(SECRET);
    expect(statSync(join(directoryOf(kept), name)).mode & 0o777).toBe(0o600);
  }
});

test("whatever was cut off by a crash, the next daemon writes it, once", async () => {
  const kept = await makeKept();
  await anAfternoon(kept);
  await expectAll(kept);
  await eventually("it is written", () => linesOf(kept, "session_meta.log").length === AFTERNOON.length);
  const names = ["session.log", "session_meta.log"];
  const texts = names.map((name) => readFileSync(join(directoryOf(kept), name)));
  for (const share of [0, 0.13, 0.5, 0.77, 0.97]) {
    await kept.persistence.close();
    for (const [index, name] of names.entries()) {
      const text = texts[index] ?? Buffer.alloc(0);
      writeFileSync(join(directoryOf(kept), name), text.subarray(0, Math.floor(text.length * share)));
    }
    await kept.next();
    await expectAll(kept);
    await eventually("it is whole", () => linesOf(kept, "session_meta.log").length === AFTERNOON.length);
    expect(linesOf(kept, "session_meta.log")).toMatchObject(AFTERNOON);
  }
});

test("full files are turned over, and nothing stands twice", async () => {
  const kept = await makeKept({}, { mostBytes: 2_000 });
  await anAfternoon(kept);
  await kept.persistence.close();
  const seqs = linesOf(kept, "session.log").map(({ seq }) => seq);
  expect(seqs).toEqual([...new Set(seqs)].toSorted((one, other) => one - other));
  expect(seqs.at(-1)).toBe(
    (await kept.ground.store.log.read({ after: 0, limit: 1_000, sessionIds: ["s"] })).at(-1)?.seq,
  );
});

test("a directory that is removed while it runs is made again, whole, and that is said", async () => {
  const kept = await makeKept();
  await anAfternoon(kept);
  await expectAll(kept);
  rmSync(directoryOf(kept), { recursive: true });
  await kept.ground.apply(read({ turn: { phase: "started", id: "d" } }));
  await eventually("it is said", () => kept.ground.events("persistence-warned", "persistence-resumed").length === 2);
  await expectAll(kept);
  expect(kept.ground.events("persistence-warned", "persistence-resumed")).toMatchObject([
    { what: "its directory", why: expect.stringContaining("were removed while the session runs") as string },
    { what: "its directory", missing: 0 },
  ]);
  expect(linesOf(kept, "session_meta.log")).toMatchObject(AFTERNOON);
});

test("a log that is removed by itself while it runs is made again, whole, and that is said", async () => {
  const kept = await makeKept();
  await anAfternoon(kept);
  await eventually("it is written", () => linesOf(kept, "session_meta.log").length === AFTERNOON.length);
  rmSync(join(directoryOf(kept), "session_meta.log"));
  await kept.ground.apply(read({ turn: { phase: "started", id: "d" } }));
  await kept.ground.apply(read({ turn: { phase: "interrupted", id: "d" } }));
  await eventually("it is said", () => kept.ground.events("persistence-warned", "persistence-resumed").length === 2);
  expect(linesOf(kept, "session_meta.log")).toMatchObject([...AFTERNOON, { kind: "interrupted", turn: 4 }]);
  await expectAll(kept);
});

const disk = mkdtempSync(join(tmpdir(), "reeve-kept-"));
const canMount = spawnSync("mount", ["-t", "tmpfs", "-o", "size=1m", "tmpfs", disk]).status === 0;
if (canMount) spawnSync("umount", [disk]);
rmSync(disk, { recursive: true, force: true });

test.skipIf(!canMount).each([
  ["full", "The disk is full."],
  ["read-only", "The disk is read-only."],
])("a disk that is %s: one warning, the session goes on, and nothing is missing afterwards", async (how, why) => {
  const kept = await makeKept();
  const directory = directoryOf(kept);
  await eventually("it has begun", () => existsSync(join(directory, "runtime.json")));
  await kept.ground.store.verified;
  const options = "size=200k,mode=0700";
  spawnSync("mount", ["-t", "tmpfs", "-o", options, "tmpfs", directory]);
  disposals.push(() => spawnSync("umount", ["-l", directory]));
  const ballast = join(directory, "ballast");
  if (how === "full") spawnSync("sh", ["-c", `cat /dev/zero > '${ballast}'`]);
  else spawnSync("mount", ["-o", "remount,ro", directory]);
  await anAfternoon(kept);
  const warned = await eventually("it is said", () => {
    const events = kept.ground.events("persistence-warned");
    return events.length >= 2 ? events : null;
  });
  expect(warned.map(({ what }) => what).toSorted()).toEqual(["session.log", "session_meta.log"]);
  for (const event of warned) expect(event.why).toContain(why);
  await kept.ground.apply(read({ turn: { phase: "started", id: "d" } }));
  if (how === "full") rmSync(ballast);
  else spawnSync("mount", ["-o", "remount,rw", directory]);
  await expectAll(kept);
  await eventually("it goes on", () => kept.ground.events("persistence-resumed").length >= 2);
  expect(kept.ground.events("persistence-warned")).toHaveLength(2);
  expect(linesOf(kept, "session_meta.log")).toMatchObject(AFTERNOON);
});

test("runtime.json: versions, names of variables, values of the safe ones, and how it ended", async () => {
  const kept = await makeKept();
  const path = join(directoryOf(kept), "runtime.json");
  const entry = await eventually("it is written", () => {
    if (!existsSync(path)) return null;
    const [first] = (JSON.parse(readFileSync(path, "utf8")) as { incarnations: Record<string, unknown>[] })
      .incarnations;
    return first?.["environment"] === null ? null : first;
  });
  expect(entry).toMatchObject({
    incarnation: 1,
    ended_at: null,
    versions: { reeve: "1.2.3", runtime: "toy 1", node: process.version },
    environment: {
      names: ["API_KEY", "HOME", "INLINE_HOME", "LANG", "PATH"],
      values: { HOME: "/h", INLINE_HOME: "/i", LANG: "C", PATH: "/bin" },
    },
  });
  await kept.ground.apply({ type: "found-exited", incarnation: 1, code: 3, signal: null, evidence: EVIDENCE });
  await eventually("its end is in it", () => readFileSync(path, "utf8").includes('"code": 3'));
  expect(readFileSync(path, "utf8")).not.toContain(SECRET);
});

test("the transcript is linked when it is there; a copy is kept of one that its agent may remove", async () => {
  for (const deletes of [false, true]) {
    const kept = await makeKept(deletes ? { deletesTranscripts: true } : {});
    const own = join(kept.ground.home.directory, "own.jsonl");
    await kept.ground.apply(read({ transcriptPath: own }));
    const link = join(directoryOf(kept), "transcript.jsonl");
    writeFileSync(own, "{}\n");
    await kept.ground.apply(read({ transcript: "observable" }));
    await eventually("it is linked", () => lstatSync(link, { throwIfNoEntry: false })?.isSymbolicLink() === true);
    expect(readlinkSync(link)).toBe(own);
    const other = join(kept.ground.home.directory, "other.jsonl");
    writeFileSync(other, `{"text":"it is ${SECRET}"}\n`);
    await kept.ground.apply(read({ transcriptPath: other }));
    await eventually("it leads to the other one", () => readlinkSync(link) === other);
    if (deletes) {
      await eventually(
        "it is held",
        () => existsSync(`${link}.held`) && readFileSync(`${link}.held`, "utf8").length > 3,
      );
      rmSync(other);
    }
    await kept.ground.apply({ type: "found-exited", incarnation: 1, code: 0, signal: null, evidence: EVIDENCE });
    await eventually("it ended", () =>
      readFileSync(join(directoryOf(kept), "runtime.json"), "utf8").includes('"code": 0'),
    );
    await eventually("it is a copy, or a link", () => lstatSync(link).isSymbolicLink() !== deletes);
    await eventually("it is held no longer", () => !existsSync(`${link}.held`));
    expect(readFileSync(link, "utf8")).toBe(`{"text":"it is ${deletes ? "[redacted]" : SECRET}"}\n`);
  }
});

test("a transcript of which nobody knows the secrets is not copied, and that is said", async () => {
  const kept = await makeKept({ deletesTranscripts: true }, { knowsSecrets: false });
  const own = join(kept.ground.home.directory, "own.jsonl");
  writeFileSync(own, `{"text":"it is ${SECRET}"}\n`);
  await kept.ground.apply(read({ transcriptPath: own, transcript: "observable" }));
  const link = join(directoryOf(kept), "transcript.jsonl");
  await eventually("it is linked", () => lstatSync(link, { throwIfNoEntry: false })?.isSymbolicLink() === true);
  await kept.ground.apply({ type: "found-exited", incarnation: 1, code: 0, signal: null, evidence: EVIDENCE });
  const [warned] = await eventually("it is said", () => {
    const events = kept.ground.events("persistence-warned");
    return events.length > 0 ? events : null;
  });
  expect(warned).toMatchObject({ why: expect.stringContaining("made no copy") as string });
  expect(lstatSync(link).isSymbolicLink()).toBe(true);
});

test("the link to its directory: made, left alone where the name is taken, and removed with the session", async () => {
  const root = mkdtempSync(join(tmpdir(), "reeve-links-"));
  disposals.push(() => rmSync(root, { recursive: true, force: true }));
  const path = join(root, "id");
  const kept = await makeKept({ directoryLink: () => path });
  mkdirSync(path);
  writeFileSync(join(root, "t"), "");
  await kept.ground.apply(read({ transcriptPath: join(root, "t"), transcript: "observable" }));
  const [warned] = await eventually("it is said", () => {
    const events = kept.ground.events("persistence-warned");
    return events.length > 0 ? events : null;
  });
  expect(warned).toMatchObject({
    what: "the link to its directory",
    why: expect.stringContaining("already") as string,
  });
  expect(kept.persistence.problems("s")).toHaveLength(1);
  rmSync(path, { recursive: true });
  await kept.ground.apply(read({ nativeId: "another" }));
  await eventually("it is made", () => lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true);
  expect(readlinkSync(path)).toBe(directoryOf(kept));
  await kept.persistence.retire(kept.ground.session());
  expect(existsSync(path)).toBe(false);
  symlinkSync("/elsewhere", path);
  await kept.persistence.retire(kept.ground.session());
  expect(readlinkSync(path)).toBe("/elsewhere");
});

test.skipIf(!canMount)(
  "a home of the agent that cannot be written: one warning, and the link when it can",
  async () => {
    const root = mkdtempSync(join(tmpdir(), "reeve-links-"));
    spawnSync("mount", ["-t", "tmpfs", "-o", "size=100k", "tmpfs", root]);
    disposals.push(() => (spawnSync("umount", ["-l", root]), rmSync(root, { recursive: true, force: true })));
    const path = join(root, "id");
    writeFileSync(join(root, "t"), "");
    spawnSync("mount", ["-o", "remount,ro", root]);
    const kept = await makeKept({ directoryLink: () => path });
    await kept.ground.apply(read({ transcriptPath: join(root, "t"), transcript: "observable" }));
    await eventually("it is said", () => kept.ground.events("persistence-warned").length > 0);
    await kept.ground.apply(read({ nativeId: "another" }));
    spawnSync("mount", ["-o", "remount,rw", root]);
    await kept.ground.apply(read({ nativeId: "a third" }));
    await eventually("it goes on", () => kept.ground.events("persistence-resumed").length === 1);
    expect(kept.ground.events("persistence-warned")).toEqual([
      {
        type: "persistence-warned",
        what: "the link to its directory",
        why: "The disk is read-only. Make it writable; Reeve tries again and goes on.",
      },
    ]);
    expect(readlinkSync(path)).toBe(directoryOf(kept));
  },
);

test("of a session that is not kept there is nothing", async () => {
  const ground = await makeGround(agentWith({ directoryLink: () => "/nonexistent/link" }));
  disposals.push(() => ground.dispose());
  const persistence = createPersistence({
    ...ground.parts,
    runtime: () => ({ files: localFiles }) as unknown as Runtime,
    secrets: async () => [],
  });
  persistence.start("1");
  persistence.attend(ground.session());
  persistence.hear("something", { session: "s" });
  await ground.apply(read({ turn: { phase: "started" } }));
  await persistence.close();
  const names = readdirSync(ground.session().identity.outputsDir);
  expect(names.filter((name) => name !== "state.json")).toEqual([]);
});
