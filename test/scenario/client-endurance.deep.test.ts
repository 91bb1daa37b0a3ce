/** Every call outlives the daemon, whenever that dies, and is done once. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createClient } from "../../src/client/create-client.ts";
import type { Client } from "../../src/client/create-client.ts";
import { daemonCommand } from "../../src/client/daemon-command.ts";
import { askDaemon } from "../support/ask-daemon.ts";
import { createCuttingProxy } from "../support/cutting-proxy.ts";
import type { Cut, CuttingProxy } from "../support/cutting-proxy.ts";
import { eventually } from "../support/eventually.ts";
import { inHome } from "../support/in-home.ts";
import type { SessionRow, TestHome } from "../support/test-home.ts";
import { createTestHome } from "../support/test-home.ts";

const ROOT = join(import.meta.dirname, "..", "..");
const KILLS = 40;
const PATH = { PATH: "/usr/bin:/bin" };

/** Nothing, the first byte, somewhere in the head, in the body, and all but the last byte. */
function placesIn(length: number): readonly number[] {
  const spread = [0, 1, 16, 80, 200, Math.floor(length / 2), length - 2, length - 1];
  return [...new Set(spread.filter((at) => at >= 0 && at < length))];
}

interface Cutting {
  readonly proxy: CuttingProxy;
  readonly client: Client;
}

/** A paused session of this name, and a client whose connections to its daemon can be cut. */
async function withCuts(home: TestHome, name: string, act: (cutting: Cutting) => Promise<void>): Promise<void> {
  const proxy = await createCuttingProxy(home.socketPath);
  try {
    const client = createClient({ socketPath: proxy.socketPath }, { daemonCommand: () => [], environment: {} });
    await client.startSession({ agent: "command", name, args: ["cat"], cwd: home.dir, environment: PATH });
    await eventually("it runs", async () => (await client.getSession({ session: name })).state === "running");
    await client.pauseSession({ session: name });
    await act({ proxy, client });
  } finally {
    await proxy.close();
  }
}

describe("a connection that is cut", () => {
  let home: TestHome;
  beforeAll(async () => {
    home = createTestHome();
    await home.json("daemon", "start");
  });
  afterAll(() => home.dispose());

  /** Each is asked once whole, to learn how long it is, and then once for every place in which it is cut. */
  const calls: Readonly<Record<string, (client: Client, session: string, round: number) => Promise<unknown>>> = {
    start: (asked, session, round) =>
      asked.startSession({
        agent: "command",
        name: `${session}-${round}`,
        args: ["cat"],
        cwd: "/",
        environment: PATH,
      }),
    send: (asked, session, round) => asked.sendMessage({ session, text: `message ${round}`, timeout_seconds: 0 }),
    list: (asked) => asked.listSessions(),
    get: (asked, session) => asked.getSession({ session }),
    data: (asked, session) => asked.getSessionData({ session }),
    explain: (asked, session) => asked.explainSession({ session }),
    pause: (asked, session) => asked.pauseSession({ session }),
    wait: (asked, session) => asked.waitForSession({ session, timeout_seconds: 0 }),
    approvals: (asked) => asked.listApprovals(),
    events: (asked) => asked.readEvents({ since: 0, limit: 5 }),
    status: (asked) => asked.daemonStatus(),
    doctor: (asked) => asked.diagnose({ cwd: "/", environment: {} }),
    end: (asked, session) => asked.endSession({ session, when: "now", timeout_seconds: 0 }),
  };

  test.each(Object.keys(calls))("%s: answered all the same, and done once", { timeout: 90_000 }, async (name) => {
    const call = calls[name];
    if (call === undefined) throw new Error(name);
    const before = (await home.events()).length;
    await withCuts(home, name, async ({ proxy, client }) => {
      let round = 0;
      await call(client, name, ++round);
      const whole = proxy.lengths();
      const cuts: readonly Cut[] = [
        ...placesIn(whole.request).map((after) => ({ of: "request", after }) as const),
        ...placesIn(whole.answer).map((after) => ({ of: "answer", after }) as const),
      ];
      for (const cut of cuts) {
        proxy.cutNext(cut);
        await call(client, name, ++round);
        expect(proxy.isCutMade(), JSON.stringify(cut)).toBe(true);
      }
      const events = (await home.events()).slice(before);
      const count = (type: string): number => events.filter((event) => event.type === type).length;
      expect(count("session-planned")).toBe(name === "start" ? round + 1 : 1);
      expect(count("message-admitted")).toBe(name === "send" ? round : 0);
      expect(count("pause-requested")).toBe(1);
      expect(count("end-requested")).toBe(name === "end" ? 1 : 0);
    });
  });
});

test("a stream of events goes on without a gap", { timeout: 90_000 }, () =>
  inHome("", async (home) => {
    await home.json("daemon", "start");
    await withCuts(home, "s", async ({ proxy, client }) => {
      await client.readEvents({ since: 0 });
      const { answer } = proxy.lengths();
      const leave = new AbortController();
      const seen: number[] = [];
      const places = placesIn(answer);
      proxy.cutNext({ of: "answer", after: places[0] ?? 0 });
      for await (const event of client.followEvents({ since: 0 }, { signal: leave.signal })) {
        seen.push(event.seq);
        if (event.seq >= 60) leave.abort();
        else if (proxy.isCutMade()) {
          // The connection that comes after this one breaks.
          proxy.cutNext({ of: "answer", after: places[seen.length % places.length] ?? 0 });
          await client.resumeSession({ session: "s" });
          await client.pauseSession({ session: "s" });
        }
      }
      expect(seen).toEqual(seen.map((_, index) => index + 1));
    });
  }),
);

test(
  "kill -9 of the daemon again and again, under start, send, list, wait and end: nothing lost, doubled or failed",
  { timeout: 240_000 },
  () =>
    inHome("", async (home) => {
      const client = createClient(
        { home: home.dir },
        { daemonCommand: () => daemonCommand(ROOT), environment: home.environment },
      );
      const receiver = ["sh", "-c", "exec cat > received"];
      await client.startSession({
        agent: "command",
        name: "receiver",
        args: receiver,
        cwd: home.dir,
        environment: PATH,
      });
      await eventually("it runs", async () => (await client.getSession({ session: "receiver" })).state === "running");
      // Its messages are recorded and wait: what was typed when a daemon dies would rightly be unknown.
      await client.pauseSession({ session: "receiver" });
      await client.startSession({
        agent: "command",
        name: "target",
        args: ["sleep", "600"],
        cwd: "/",
        environment: PATH,
      });
      const wait = home.run(["wait", "target", "--for", "exited", "--timeout", "200", "--json"]);

      // A daemon answers before it is killed: what is killed for half a minute without an answer rightly gives up.
      const listedAt = performance.now();
      await home.list();
      const longestMs = Math.max(200, 3 * (performance.now() - listedAt));
      const state = { isOver: false, kills: 0 };
      const killer = (async () => {
        while (!state.isOver) {
          // One in four in the middle of its start; the others while they answer.
          if (state.kills % 4 !== 0 && (await askDaemon(home, "/v1/daemon")) === null) {
            await new Promise((resolve) => setTimeout(resolve, 5));
            continue;
          }
          await new Promise((resolve) => setTimeout(resolve, ((state.kills * 37) % 200) * (longestMs / 200)));
          state.kills += home.killRunningDaemon() ? 1 : 0;
        }
      })();
      let rounds = 0;
      const failures: string[] = [];
      const act = async (what: string, work: Promise<unknown>): Promise<void> => {
        await work.catch((error: unknown) => failures.push(`${what}: ${String(error)}`));
      };
      const run = async (...args: readonly string[]): Promise<void> => {
        const { status, stdout, stderr } = await home.run(args);
        if (status !== 0) failures.push(`reeve ${args.join(" ")}: ${status} ${stdout}${stderr}`);
      };
      while (state.kills < KILLS) {
        const round = ++rounds;
        await Promise.all([
          run("start", "command", "--name", `cli-${round}`, "--", "sleep", "600"),
          run("send", "receiver", `by the cli ${round}`, "--timeout", "0"),
          run("list", "--json"),
          act(
            "start",
            client.startSession({
              agent: "command",
              name: `n-${round}`,
              args: ["sleep", "600"],
              cwd: "/",
              environment: PATH,
            }),
          ),
          act("send", client.sendMessage({ session: "receiver", text: `by the client ${round}`, timeout_seconds: 0 })),
          act("list", client.listSessions()),
        ]);
      }
      await run("end", "target", "--when", "now");
      const waited = await wait;
      state.isOver = true;
      await killer;
      expect(failures).toEqual([]);
      expect({ status: waited.status, stderr: waited.stderr }).toEqual({ status: 0, stderr: "" });
      expect(JSON.parse(waited.stdout)).toMatchObject({ done: true, reason: "exited" });

      const names = (await home.list()).map((session: SessionRow) => session.name).toSorted();
      const numbers = Array.from({ length: rounds }, (_, index) => index + 1);
      expect(names).toEqual([...numbers.flatMap((n) => [`cli-${n}`, `n-${n}`]), "receiver", "target"].toSorted());
      await home.json("resume", "receiver");
      const expected = numbers.flatMap((n) => [`by the cli ${n}`, `by the client ${n}`]);
      const received = await eventually(
        "all messages arrived",
        () => {
          const lines = readFileSync(join(home.dir, "received"), "utf8").trimEnd().split("\n");
          return lines.length >= expected.length && lines;
        },
        60_000,
      );
      expect(received.toSorted()).toEqual(expected.toSorted());
    }),
);

test("a daemon that stays lost tells the key, and the command that repeats it with the key does it once", () =>
  inHome("", async (home) => {
    await home.json("start", "command", "--name", "held", "--", "cat");
    await home.json("pause", "held");
    const key = "again-and-again";
    const first = await home.json<{ message_id: string }>(
      "send",
      "held",
      "once",
      "--timeout",
      "0",
      "--idempotency-key",
      key,
    );
    await home.killDaemon();
    const second = await home.json<{ message_id: string }>(
      "send",
      "held",
      "once",
      "--timeout",
      "1",
      "--idempotency-key",
      key,
    );
    expect(second.message_id).toBe(first.message_id);
    const other = await home.run(["send", "held", "twice", "--idempotency-key", key, "--json"]);
    expect(JSON.parse(other.stdout)).toMatchObject({ error: { code: "idempotency-conflict" } });
    // In another shell, with another environment.
    const args = ["start", "command", "--name", "one", "--idempotency-key", key, "--json", "--", "sleep", "600"];
    const started = [
      await home.run(args, { environment: { SHLVL: "1" } }),
      await home.run(args, { environment: { SHLVL: "2" } }),
    ];
    expect(started.map(({ status }) => status)).toEqual([0, 0]);
    expect(new Set(started.map(({ stdout }) => (JSON.parse(stdout) as SessionRow).session_id)).size).toBe(1);
  }));
