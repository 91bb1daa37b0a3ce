/** Bootstrap, channel and WebSocket against the real app-server of Codex, with the scripted model behind it. */
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readdir, readFile, readlink, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { AGENT_PROGRAMS } from "../../../test/agent-programs/agent-programs.ts";
import { codexHome } from "../../../test/scripted-model/agent-homes.ts";
import { type ScriptedModel, startScriptedModel } from "../../../test/scripted-model/scripted-model.ts";
import type { Reading } from "../../session/reading.ts";
import type { Channel } from "../contract.ts";
import type { BootstrapRequest } from "./bootstrap-request.ts";
import { openChannel } from "./channel.ts";
import { materialise } from "./new-thread.ts";
import { connectRpc } from "./rpc.ts";
import { connectWebSocket } from "./websocket.ts";

const root = new URL("../../..", import.meta.url).pathname;
const codex = join(AGENT_PROGRAMS, "codex");
const bootstrap = join(root, "src/agent/codex/bootstrap.ts");
const run = promisify(execFile);

interface Opened {
  readonly channel: Channel;
  readonly readings: Reading[];
}

describe.skipIf(!existsSync(codex))(
  "Codex's app-server (needs sh script/setup.sh --for-tests)",
  { timeout: 60_000 },
  () => {
    let dir: string;
    let model: ScriptedModel;
    let environment: Record<string, string>;
    let server: ChildProcess;
    let request: BootstrapRequest;
    let threadId: string;
    const opened: Opened[] = [];

    beforeAll(async () => {
      dir = await mkdtemp(join(tmpdir(), "reeve-codex-"));
      for (const name of ["work", "spool", "home"]) await mkdir(join(dir, name));
      model = await startScriptedModel();
      ({ environment } = await codexHome(join(dir, "home"), model.url, { trust: [join(dir, "work")] }));
      request = {
        socket: join(dir, "s.sock"),
        cwd: join(dir, "work"),
        model: null,
        extraRoots: [],
        resume: null,
        prompt: "first words",
        tools: null,
        spoolDir: join(dir, "spool"),
        recordPath: join(dir, "codex-thread.json"),
      };
      // What a person writes who wants to be asked about a command.
      await mkdir(join(dir, "home/.codex/rules"));
      await writeFile(
        join(dir, "home/.codex/rules/default.rules"),
        'prefix_rule(pattern=["touch"], decision="prompt")\n',
      );
      const flags = ["-c", "features.daemon_auto_start=false", "--listen", `unix://${request.socket}`];
      server = spawn(codex, ["app-server", ...flags], { env: environment, cwd: request.cwd, stdio: "ignore" });
    });

    afterAll(async () => {
      for (const { channel } of opened) channel.close();
      server.kill("SIGKILL");
      // What a killed server leaves behind (0.166.0).
      const left = await readlink(request.socket).catch(() => null);
      if (left !== null) for (const path of [left, `${left}.lock`]) await rm(path, { force: true });
      await model.close();
      await rm(dir, { recursive: true, force: true });
    });

    async function bootstrapped(given: Partial<BootstrapRequest> = {}): Promise<string> {
      const path = join(dir, "codex-bootstrap.json");
      await writeFile(path, JSON.stringify({ ...request, ...given }));
      const { stdout } = await run(process.execPath, [bootstrap, path], { env: environment });
      return stdout;
    }

    async function open(): Promise<Opened> {
      const readings: Reading[] = [];
      const context = { socket: request.socket, nativeId: threadId, onClose: () => undefined };
      const channel = await openChannel({ ...context, onReading: (reading) => readings.push(reading) });
      opened.push({ channel, readings });
      return { channel, readings };
    }

    test("a thread that is still being made is not followed: it would be taken for one whose rollout is lost", async () => {
      while (!existsSync(request.socket)) await new Promise((resolve) => setTimeout(resolve, 20));
      const nobody = { onNotification: () => undefined, onRequest: () => undefined, onClose: () => undefined };
      const rpc = await connectRpc(request.socket, "1", nobody);
      const { thread } = await rpc.call("thread/start", { cwd: request.cwd, threadSource: "user" });
      const context = { socket: request.socket, nativeId: null, onClose: () => undefined, onReading: () => undefined };
      await expect(openChannel(context)).rejects.toMatchObject({ code: "agent-refused" });
      await materialise(rpc, (thread as { readonly id: string }).id);
      const channel = await openChannel(context);
      expect(channel.lacks()).toBeNull();
      channel.close();
      rpc.close();
    });

    test("a thread is opened, spooled, and has its rollout before any prompt", async () => {
      const answer = await bootstrapped();
      expect(answer).toMatch(/^[0-9a-f-]{36} prompt\n$/);
      threadId = answer.split(" ")[0] ?? "";
      const [name = "", ...others] = await readdir(request.spoolDir);
      expect(others).toEqual([]);
      const spooled = JSON.parse(await readFile(join(request.spoolDir, name), "utf8")) as {
        readonly rollout_path: string;
      };
      expect(spooled).toEqual({
        reeve: "codex-thread",
        thread_id: threadId,
        rollout_path: expect.stringContaining(threadId),
      });
      const [first = ""] = (await readFile(spooled.rollout_path, "utf8")).split("\n");
      expect(JSON.parse(first)).toMatchObject({ type: "session_meta", payload: { id: threadId } });
    });

    describe("a prompt is given once Reeve's server has told its tools", () => {
      let given: Partial<BootstrapRequest> & { readonly spoolDir: string };
      let readyPath: string;
      const records = async (): Promise<readonly { readonly reeve: string }[]> => {
        const names = (await readdir(given.spoolDir)).filter((name) => !name.startsWith(".")).toSorted();
        const texts = names.map((name) => readFile(join(given.spoolDir, name), "utf8"));
        return (await Promise.all(texts)).map((text) => JSON.parse(text) as { readonly reeve: string });
      };
      beforeEach(async () => {
        const own = await mkdtemp(join(dir, "own-"));
        readyPath = `${own}-ready`;
        given = { spoolDir: own, recordPath: join(dir, `${basename(own)}.json`) };
      });

      test("it is held until then, and nothing is said", async () => {
        let answer: string | null = null;
        const done = bootstrapped({ ...given, tools: { readyPath, withinMs: 600_000 } }).then(
          (text) => (answer = text),
        );
        while ((await records()).length === 0) await new Promise((resolve) => setTimeout(resolve, 20));
        expect(answer).toBeNull();
        await writeFile(`${readyPath}.new`, String(process.pid));
        await rename(`${readyPath}.new`, readyPath);
        expect(await done).toMatch(/ prompt\n$/);
        expect((await records()).map(({ reeve }) => reeve)).toEqual(["codex-thread"]);
      });

      test("if that does not come in time it is given all the same, and the daemon is told", async () => {
        const dead = spawn("true");
        await new Promise((resolve) => dead.once("exit", resolve));
        await writeFile(readyPath, String(dead.pid));
        expect(await bootstrapped({ ...given, tools: { readyPath, withinMs: 100 } })).toMatch(/ prompt\n$/);
        const [, late] = await records();
        expect(late).toEqual({ reeve: "tools-late" });
      });

      test("without a prompt nothing is waited for", async () => {
        const tools = { readyPath, withinMs: 600_000 };
        expect(await bootstrapped({ ...given, prompt: null, tools })).toMatch(/ -\n$/);
      });
    });

    test("a turn is told from beginning to end, to a model that saw the prompt once", async () => {
      const { channel, readings } = await open();
      await channel.ping();
      const evidence = await channel.send("first words", "turn");
      await until(readings, (reading) => reading.turn?.phase === "completed");
      const id = idOf(evidence);
      expect(readings.map(({ turn }) => turn).filter((turn) => turn !== undefined)).toEqual([
        { phase: "started", id },
        { phase: "started", id, prompt: "first words" },
        { phase: "completed", id },
      ]);
      expect(readings.at(-1)?.activity).toBe("idle");
      expect(model.requests().filter(({ hidden }) => !hidden)).toHaveLength(1);
    });

    test("a prompt that has arrived is not given again when the session is started again", async () => {
      expect(await bootstrapped({ resume: threadId })).toBe(`${threadId} -\n`);
      expect(await bootstrapped({ resume: threadId, prompt: "other words" })).toBe(`${threadId} prompt\n`);
      expect(await bootstrapped({ resume: threadId, prompt: null })).toBe(`${threadId} -\n`);
    });

    test("what is asked is asked of a client that comes later too, and a no lets the turn go on", async () => {
      const { channel, readings } = await open();
      const turnId = idOf(await channel.send("[[shell touch made-by-codex]]", "turn"));
      const asked = await until(readings, ({ approval }) => approval !== undefined && "requested" in approval);
      const late = await open();
      await until(late.readings, ({ approval }) => approval !== undefined);
      expect(late.readings.find(({ approval }) => approval !== undefined)?.approval).toEqual(asked.approval);
      const id = asked.approval !== undefined && "requested" in asked.approval ? asked.approval.requested.id : "";
      expect(asked.approval).toMatchObject({
        requested: { kind: "command", subject: "touch made-by-codex", cwd: request.cwd },
      });
      await late.channel.answer(id, "denied");
      const isSettled = ({ approval }: Reading): boolean => approval !== undefined && "settled" in approval;
      expect((await until(late.readings, isSettled)).approval).toEqual({ settled: { id, decision: "denied" } });
      // The others are told that it is settled, and mostly, but not always, how (0.166.0).
      expect((await until(readings, isSettled)).approval).toEqual({
        settled: { id, decision: expect.toBeOneOf(["denied", null]) },
      });
      await until(readings, ({ turn }) => turn?.phase === "completed" && turn.id === turnId);
      await expect(channel.answer(id, "approved")).rejects.toMatchObject({ details: { sent: false } });
      expect(existsSync(join(request.cwd, "made-by-codex"))).toBe(false);
    });

    test("a turn takes more text, and can be stopped", async () => {
      const { channel, readings } = await open();
      await expect(channel.interrupt()).rejects.toMatchObject({ code: "turn-not-open", details: { sent: false } });
      const id = idOf(await channel.send("[[hang]]", "turn"));
      await until(readings, ({ turn }) => turn?.phase === "started" && turn.id === id && "prompt" in turn);
      await expect(channel.send("too early", "turn")).rejects.toMatchObject({ details: { sent: false } });
      await channel.send("[[hang]] and this", "steer");
      await channel.interrupt();
      await until(readings, ({ turn }) => turn?.phase === "interrupted" && turn.id === id);
    });

    test("a turn that fails says why", async () => {
      const { channel, readings } = await open();
      await channel.send("[[status 400]]", "turn");
      const { turn } = await until(readings, (reading) => reading.turn?.phase === "failed");
      expect(turn?.phase === "failed" ? turn.error : "").not.toBe("");
    });

    test("nonsense on the socket ends that connection only", async () => {
      const why = await new Promise((resolve) => {
        connectWebSocket(request.socket, { onMessage: () => undefined, onClose: resolve }).then(
          (link) => link.send("not JSON"),
          () => resolve("refused"),
        );
        setTimeout(() => resolve("still open"), 500);
      });
      expect(typeof why).toBe("string");
      const { readings } = await open();
      expect(readings[0]).toMatchObject({ detail: "thread/resume", nativeId: threadId });
    });

    test("the server's death is told", async () => {
      const { promise, resolve } = Promise.withResolvers<string>();
      await openChannel({ socket: request.socket, nativeId: threadId, onReading: () => undefined, onClose: resolve });
      server.kill("SIGKILL");
      expect(await promise).not.toBe("");
    });
  },
);

/** Of a turn, in what the channel says of it. */
function idOf(evidence: string): string | undefined {
  return /[0-9a-f-]{36}/.exec(evidence)?.[0];
}

async function until(readings: readonly Reading[], match: (reading: Reading) => boolean): Promise<Reading> {
  for (let tries = 0; tries < 1_000; tries += 1) {
    const found = readings.find(match);
    if (found !== undefined) return found;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  throw new Error(`no such reading came; there were ${JSON.stringify(readings)}`);
}
