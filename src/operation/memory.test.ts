/** Who remembers what, who finds it, and what is refused. */
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import type * as z from "zod/mini";
import { inertRuntime } from "../runtime/inert-runtime.ts";
import { localFiles } from "../runtime/local-files.ts";
import { type Caller, OPERATOR } from "../session/caller.ts";
import { addMemory } from "./add-memory.ts";
import type { Operation } from "./contract.ts";
import { type DoorGround, makeDoorGround } from "./door-fixture.ts";
import { forgetMemory } from "./forget-memory.ts";
import { listMemories } from "./list-memories.ts";
import { searchMemory } from "./search-memory.ts";
import { plainLaunch } from "../session/plain-launch.ts";

let ground: DoorGround;
let root: string;
beforeEach(async () => {
  root = mkdtempSync(join(tmpdir(), "reeve-projects-"));
  for (const name of ["one", "two"]) mkdirSync(join(root, name, ".git"), { recursive: true });
  const within = (project: string) => ({ launch: plainLaunch(join(root, project)) });
  ground = await makeDoorGround(
    [
      ["builder-one", { identity: { role: "builder", ...within("one") } }],
      ["reviewer-one", { identity: { role: "reviewer", ...within("one") } }],
      ["builder-two", { identity: { role: "builder", ...within("two") } }],
    ],
    { runtime: { ...inertRuntime("tmux", "There is no tmux here."), files: localFiles } },
  );
});
afterEach(async () => {
  await ground.dispose();
  rmSync(root, { recursive: true, force: true });
});

const by = (id: string): Caller => ({ kind: "session", id });

async function call<Output extends z.ZodMiniType>(
  operation: Operation<z.ZodMiniObject, Output>,
  input: unknown,
  caller: Caller,
  idempotencyKey?: string,
): Promise<z.input<Output>> {
  return await ground.door.invoke(operation, input, caller, { ...ground.call, idempotencyKey, isChecked: true });
}

const add = (text: string, caller: Caller, more: object = {}, key?: string) =>
  call(addMemory, { text, ...more }, caller, key);
const texts = async (caller: Caller, more: object = {}): Promise<readonly string[]> =>
  (await call(searchMemory, { text: "word", ...more }, caller)).found.map(({ text }) => text).toSorted();
const refusal = (operation: Operation, input: unknown, caller: Caller): Promise<unknown> =>
  call(operation, input, caller).then(
    () => Promise.reject(new Error("it was not refused")),
    (error: unknown) => error,
  );

test("a session writes for its own project and role, and reaches that and what is for every role", async () => {
  const own = await add("word of the builder", by("builder-one"));
  expect(own).toMatchObject({ role: "builder", session_id: "builder-one", by: "session:builder-one" });
  await add("word for all", by("builder-one"), { scope: "project" });
  await add("word of two", by("builder-two"), { cwd: join(root, "one") });
  await add("word of the operator", OPERATOR, { cwd: join(root, "one"), role: "reviewer" });

  expect(await texts(by("builder-one"))).toEqual(["word for all", "word of the builder"]);
  expect(await texts(by("reviewer-one"))).toEqual(["word for all", "word of the operator"]);
  expect(await texts(by("builder-two"), { cwd: join(root, "one") })).toEqual(["word of two"]);
  expect(await texts(OPERATOR)).toHaveLength(4);
  expect(await texts(OPERATOR, { cwd: join(root, "one") })).toHaveLength(3);
  const listed = await call(listMemories, { limit: 1 }, by("builder-one"));
  expect(listed.memories.map(({ text }) => text)).toEqual(["word for all"]);
  const rest = await call(listMemories, { page: listed.next_page }, by("builder-one"));
  expect(rest.memories.map(({ text }) => text)).toEqual(["word of the builder"]);
});

test("what is of another project or role is neither shown nor forgotten", async () => {
  const { memory_id: memory } = await add("word", by("builder-one"));
  for (const other of ["reviewer-one", "builder-two"]) {
    expect(await refusal(listMemories, { memory }, by(other))).toMatchObject({ code: "not-allowed" });
    expect(await refusal(forgetMemory, { memory }, by(other))).toMatchObject({ code: "not-allowed" });
  }
  expect(await refusal(searchMemory, { text: "word", role: "builder" }, by("reviewer-one"))).toMatchObject({
    code: "not-allowed",
  });
  expect(await refusal(addMemory, { text: "word", session: "builder-one" }, by("builder-two"))).toMatchObject({
    code: "not-allowed",
  });
  expect(await call(forgetMemory, { memory }, by("builder-one"))).toEqual({ memory_id: memory });
  expect(await refusal(forgetMemory, { memory }, by("builder-one"))).toMatchObject({ code: "unknown-memory" });
});

test("asked for twice with one key it is remembered once", async () => {
  const first = await add("word", by("builder-one"), {}, "key");
  expect(await add("word", by("builder-one"), {}, "key")).toEqual(first);
  expect(await texts(OPERATOR)).toEqual(["word"]);
  await expect(add("another word", by("builder-one"), {}, "key")).rejects.toMatchObject({
    code: "idempotency-conflict",
  });
});

test("a text of 64 KB is kept whole, and one of 1 MB is refused", async () => {
  const { memory_id: memory } = await add("é".repeat(32_768), OPERATOR, { cwd: root });
  const [whole] = (await call(listMemories, { memory }, OPERATOR)).memories;
  expect([whole?.text.length, whole?.truncated]).toEqual([32_768, false]);
  const [short] = (await call(listMemories, {}, OPERATOR)).memories;
  expect([short?.text.length, short?.truncated]).toEqual([2_000, true]);
  expect(await refusal(addMemory, { text: "x".repeat(1_048_576), cwd: root }, OPERATOR)).toMatchObject({
    code: "memory-too-long",
    message: expect.stringContaining("at most 65536") as unknown,
  });
  expect(await refusal(addMemory, { text: "x" }, OPERATOR)).toMatchObject({ code: "missing-project" });
  expect(await refusal(searchMemory, { text: "!?" }, OPERATOR)).toMatchObject({ code: "nothing-to-search" });
});

test("what has the shape of a secret is not written", async () => {
  const secret = `ghp_${"a1B2".repeat(9)}`;
  const { text } = await add(`the token is ${secret}`, by("builder-one"));
  expect(text).toContain("[redacted");
  const files = ["memory.db", "memory.db-wal"].map((name) => readFileSync(join(ground.home.directory, name), "latin1"));
  for (const bytes of files) expect(bytes).not.toContain(secret);
});

test("what a session remembers itself takes back the reminder of its turn; what others write about it does not", async () => {
  const { outputsDir = "" } = ground.store.registry.get("builder-one")?.identity ?? {};
  mkdirSync(outputsDir, { recursive: true });
  const due = join(outputsDir, "reminder-due");
  writeFileSync(due, "");
  await add("word", OPERATOR, { session: "builder-one" });
  await add("word", by("reviewer-one"));
  expect(existsSync(due)).toBe(true);
  await add("word", by("builder-one"));
  expect(existsSync(due)).toBe(false);
});
