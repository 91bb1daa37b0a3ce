/**
 * What the daemon cannot look at it calls unreachable, and it answers meanwhile: out of descriptors by
 * callers that stay and never say what they want, and with every reading of /proc failing as the kernel lets it fail.
 */
import { rmSync, writeFileSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { askDaemon } from "../support/ask-daemon.ts";
import { eventually } from "../support/eventually.ts";
import type { SessionRow, TestHome } from "../support/test-home.ts";
import { createTestHome, runProgram } from "../support/test-home.ts";

let home: TestHome;
beforeEach(() => {
  home = createTestHome();
  home.configure("[sessions]\nhealth_interval_seconds = 0.2\norphan_grace_seconds = 0\nsweep_interval_seconds = 0.2\n");
});
afterEach(() => home.dispose());

async function startSome(environment: Readonly<Record<string, string>> = {}): Promise<readonly SessionRow[]> {
  const start = (...args: readonly string[]) => home.run(["start", ...args], { environment });
  await start("practice", "--name", "agent", "Say hello");
  for (const name of ["one", "two"]) await start("command", "--name", name, "--", "sleep", "600");
  await eventually("all run", async () => (await home.list()).every((session) => session.liveness === "running"));
  await eventually("the first turn is over", async () => (await home.session("agent"))["activity"] === "idle");
  return home.list();
}

/** As the daemon tells it over one connection; null when it did not answer. */
async function looks(): Promise<readonly SessionRow[] | null> {
  return (await askDaemon<{ sessions: SessionRow[] }>(home, "/v1/sessions"))?.sessions ?? null;
}

async function eventsOf(...patterns: readonly RegExp[]): Promise<readonly string[]> {
  const types = (await home.events()).map((event) => event.type);
  return types.filter((type) => patterns.some((pattern) => pattern.test(type)));
}

/** That anything ended, was lost or had to be cleared away. */
const ENDS = /exited|errored|orphan|runtime-lost|cleared|stopped/;

describe("35 callers and 64 descriptors: nothing is called gone, nothing is signalled, list answers", () => {
  let callers: Socket[] = [];
  afterEach(hangUp);

  async function call(count: number, words: string): Promise<void> {
    for (let index = 0; index < count; index += 1) {
      const socket = connect(home.socketPath);
      callers.push(socket);
      socket.on("error", () => undefined);
      await new Promise<void>((resolve) => socket.once("connect", () => socket.write(words, () => resolve())));
    }
  }

  function hangUp(): void {
    for (const socket of callers) socket.destroy();
    callers = [];
  }

  async function limitTo(pid: number, descriptors: number): Promise<void> {
    const args = [`--nofile=${descriptors}:20000`, "--pid", String(pid)];
    expect((await runProgram("prlimit", args, home.environment)).status).toBe(0);
  }

  const head = "POST /v1/sessions HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-len";
  test.each([
    ["half a head", head],
    ["half a body", `${head}gth: 900\r\n\r\n{"agent"`],
  ])("each with %s", async (_, words) => {
    const before = await startSome();
    const living = home.marked().map(({ pid }) => pid);
    const daemon = await home.daemonPid();
    await limitTo(daemon, 64);
    await call(35, words);
    // That each of these was seen to end is a look at the runtime, made with what descriptors there are.
    for (const name of ["short-1", "short-2", "short-3"]) {
      await home.json("start", "command", "--name", name, "--", "true");
      await eventually(`the end of ${name} is seen`, async () => (await home.session(name))["exit"] !== null);
      const rows = (await eventually("the daemon answers", looks)).filter((row) => !row.name.startsWith("short"));
      expect(rows.map((row) => [row.name, row.liveness, row.state])).toEqual(
        before.map((row) => [row.name, "running", row.state]),
      );
      await call(3, words);
    }
    const { cursor } = await home.json<{ cursor: number }>("daemon", "status");
    expect(await home.json("send", "agent", "Say something more")).toMatchObject({ state: "delivered" });
    const turn = ["wait", "agent", "--since", String(cursor), "--for", "turn-completed", "--timeout", "20"];
    expect(await home.json(...turn)).toMatchObject({ reason: "turn-completed" });
    expect(await home.daemonPid()).toBe(daemon);
    hangUp();
    await limitTo(daemon, 20_000);
    await home.json("end", "short-1");
    expect(home.marked().map(({ pid }) => pid)).toEqual(living);
    const ended = (await home.events()).filter((event) => ENDS.test(event.type)).map((event) => event.session_id);
    const short = (await home.list()).filter((row) => row.name.startsWith("short")).map((row) => row.session_id);
    expect(ended.filter((id) => !short.includes(id ?? ""))).toEqual([]);
    expect(await eventsOf(/liveness/)).toEqual([]);
  });
});

describe("a /proc that cannot be read: unreachable, never gone, and as before once it can", () => {
  const faults = ["EMFILE", "ENFILE", "ENOMEM", "EACCES", "EPERM", "EIO"];
  test.each([...faults, "EMFILE stat", "ENOMEM environ", "EACCES environ"])("%s", async (fault) => {
    const file = join(home.dir, "fault");
    const preload = join(import.meta.dirname, "..", "support", "faulty-proc.mjs");
    await startSome({ NODE_OPTIONS: `--import ${preload}`, FAULTY_PROC: file });
    const daemon = await home.daemonPid();
    const living = home.marked().map(({ pid }) => pid);
    writeFileSync(file, fault);
    if (!fault.endsWith("environ"))
      await eventually("it is called unreachable", async () =>
        (await looks())?.every((session) => session.liveness === "unreachable"),
      );
    // An end that is asked for now must not be called proven: nobody could look for what is left.
    const ending = home.json<{ done: boolean }>("end", "two", "--when", "now");
    await eventually("the end is recorded", async () => (await eventsOf(/end-requested/)).length > 0);
    const rows = await eventually("the daemon answers", looks);
    expect(rows.map((session) => session.state)).toEqual(["running", "running", "running"]);
    expect(await eventsOf(ENDS)).toEqual([]);
    rmSync(file);
    expect(await ending).toMatchObject({ done: true });
    await eventually("all others run", async () =>
      (await looks())?.every((session) => session.liveness === "running" && session.state === "running"),
    );
    expect(await home.daemonPid()).toBe(daemon);
    const after = home.marked().map(({ pid }) => pid);
    expect(living.filter((pid) => !after.includes(pid))).toHaveLength(2); // the wrapper and the sleep of "two"
  });
});
