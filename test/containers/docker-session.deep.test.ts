/**
 * Sessions in containers through the real CLI and daemon, over a real Docker Engine: the verification list of seed 003,
 * and what a start refuses.
 */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type DockerEngine, engineImpediment, startDockerEngine } from "../support/docker-engine.ts";
import { eventually } from "../support/eventually.ts";
import { readIfThere } from "../support/read-if-there.ts";
import { SESSION_IMAGE } from "../support/session-image.ts";
import { createTestHome, type TestHome } from "../support/test-home.ts";

const impediment = engineImpediment();
const DOCKER = ["--runtime", "docker"] as const;
const SHOW = ["sh", "-c", 'echo "$GIVEN" >new; mv new given; sleep 1000'] as const;

interface Found {
  readonly Id: string;
  readonly State: string;
  readonly Labels: Readonly<Record<string, string>>;
}

describe.skipIf(impediment !== null)(
  `sessions in containers${impediment === null ? "" : ` (skipped: ${impediment})`}`,
  () => {
    let engine: DockerEngine;
    let home: TestHome;
    let workspace: string;
    beforeAll(async () => {
      engine = await startDockerEngine({ liveRestore: true });
    }, 120_000);
    afterAll(() => engine.dispose(), 60_000);
    beforeEach(() => {
      home = createTestHome();
      workspace = mkdtempSync(join(tmpdir(), "reeve-work-"));
      home.configure(`[docker]\nhost = "${engine.host}"\nimage = "${SESSION_IMAGE}"\nmemory = "256m"\n`);
    });
    afterEach(async () => {
      await home.dispose();
      expect(await containers()).toEqual([]);
      rmSync(workspace, { recursive: true, force: true });
    });

    const containers = async (session?: string): Promise<readonly Found[]> => {
      const { body } = await engine.call("GET", "/containers/json?all=1");
      const found = (body as readonly Found[]).filter(({ Labels }) => Labels["dev.reeve.session"] !== undefined);
      return session === undefined ? found : found.filter(({ Labels }) => Labels["dev.reeve.session"] === session);
    };
    const idOf = async (name: string): Promise<string> => (await home.session(name)).session_id;
    const start = (name: string, script: string, ...more: readonly string[]): Promise<Record<string, unknown>> =>
      home.json("start", "command", ...DOCKER, "--cwd", workspace, "--name", name, ...more, "--", "sh", "-c", script);
    const state = async (name: string): Promise<string> => (await home.session(name)).state;
    const isRunning = (name: string) => eventually(`${name} runs`, async () => (await state(name)) === "running");

    test("a daemon is killed while a session prints without end: it goes on printing, with nobody to read it", async () => {
      await start("loud", "while :; do seq 2000; n=$((n + 1)); echo $n > counter; done");
      const count = (): number => Number(readIfThere(join(workspace, "counter")) ?? 0);
      // The first daemon came in with the container's own client, the second by exec.
      for (const daemon of ["first", "second"]) {
        await isRunning("loud");
        await eventually("it prints", () => count() > 20);
        await home.killDaemon();
        const then = count();
        await eventually(`it goes on without the ${daemon} daemon`, () => count() > then + 300, 60_000);
      }
    }, 180_000);

    test("three are started, each in a container of its own, typed to, and ended with nothing left", async () => {
      for (const name of ["one", "two", "three"])
        await start(name, `while read x; do echo "$x" >>${name}.txt; done`, "--role", "tester");
      for (const name of ["one", "two", "three"]) await isRunning(name);
      const found = await containers();
      expect(new Set(found.map(({ Labels }) => Labels["dev.reeve.session"])).size).toBe(3);
      expect(
        found.every(({ Labels }) => Labels["dev.reeve.role"] === "tester" && Labels["dev.reeve.owner"] === "0"),
      ).toBe(true);
      expect(await home.session("one")).toMatchObject({
        container: { image: SESSION_IMAGE, memory_bytes: 268_435_456, network: "none" },
        reason: expect.stringMatching(/^Running as container [0-9a-f]{12}\.$/) as string,
      });
      for (const name of ["one", "two", "three"]) {
        expect((await home.run(["send", name, `for ${name}`])).status).toBe(0);
        await eventually("it arrived", () => readOrEmpty(join(workspace, `${name}.txt`)) === `for ${name}\n`);
        expect(statSync(join(workspace, `${name}.txt`)).uid).toBe(process.getuid?.());
      }
      await home.json("end", "two");
      expect(await containers(await idOf("two"))).toEqual([]);
      expect(await state("one")).toBe("running");
    }, 120_000);

    test("paused: the container stays; suspended: it is frozen, and goes on", async () => {
      await start("one", "while :; do date +%s%N >>ticks; sleep 0.05; done");
      await isRunning("one");
      const id = await idOf("one");
      await home.json("pause", "one");
      expect(await containers(id)).toMatchObject([{ State: "running" }]);
      await home.json("resume", "one");
      await home.json("pause", "one", "--suspend");
      await eventually("it is frozen", async () => (await containers(id))[0]?.State === "paused");
      expect(await state("one")).toBe("paused");
      await home.json("resume", "one");
      await eventually(
        "it goes on",
        async () => (await containers(id))[0]?.State === "running" && (await state("one")) === "running",
      );
    }, 120_000);

    test("killed behind Reeve's back: error and its reason; with a restart policy it is started again", async () => {
      await start("kept", "sleep 1000", "--restart", "on-failure");
      await start("left", "sleep 1000");
      await isRunning("kept");
      await isRunning("left");
      const [before] = await containers(await idOf("kept"));
      for (const name of ["kept", "left"]) {
        const [found] = await containers(await idOf(name));
        await engine.call("POST", `/containers/${found?.Id}/kill`);
      }
      await eventually("the other is in error", async () => (await state("left")) === "error");
      expect((await home.session("left")).reason).toMatch(/killed|137/i);
      await eventually("it runs again", async () => {
        const [now] = await containers(await idOf("kept"));
        return (await state("kept")) === "running" && now?.State === "running" && now.Id !== before?.Id;
      });
    }, 120_000);

    test("a daemon that is killed leaves containers, and the next one finds them", async () => {
      await start("one", 'while read x; do echo "$x" >>got; done');
      await isRunning("one");
      const [before] = await containers();
      await home.killDaemon();
      expect(await containers()).toMatchObject([{ Id: before?.Id, State: "running" }]);
      await isRunning("one");
      await home.run(["send", "one", "after"]);
      await eventually("it arrived", () => readOrEmpty(join(workspace, "got")) === "after\n");
      expect(await containers()).toMatchObject([{ Id: before?.Id }]);
      await home.json("restart", "one");
      await eventually("another one runs", async () => {
        const [now, ...others] = await containers();
        return others.length === 0 && now?.Id !== before?.Id && (await state("one")) === "running";
      });
    }, 120_000);

    test("paused by hand is paused, not dead; it goes on by hand or on request (fault 27)", async () => {
      await start("one", "sleep 1000", "--restart", "always");
      await isRunning("one");
      const [found] = await containers();
      await engine.call("POST", `/containers/${found?.Id}/pause`);
      await eventually("it is paused", async () => (await state("one")) === "paused");
      expect(await home.session("one")).toMatchObject({
        liveness: "running",
        reason: expect.stringContaining("paused outside of Reeve") as string,
      });
      await engine.call("POST", `/containers/${found?.Id}/unpause`);
      await isRunning("one");
      await engine.call("POST", `/containers/${found?.Id}/pause`);
      await eventually("it is paused again", async () => (await state("one")) === "paused");
      await home.json("resume", "one");
      await eventually("it goes on", async () => (await containers())[0]?.State === "running");
      expect(await containers()).toMatchObject([{ Id: found?.Id }]);
    }, 120_000);

    test.each(["create.after-container", "create.after-start", "create.after-environment", "create.after-removal"])(
      "a daemon killed at %s of a start and of a restart leaves one container in the end",
      async (point) => {
        home.failAt(point);
        await home.run([
          "start",
          "command",
          ...DOCKER,
          "--cwd",
          workspace,
          "--name",
          "one",
          "--env",
          "GIVEN=by-hand",
          "--",
          ...SHOW,
        ]);
        await isRunning("one");
        expect(home.isFailpointArmed()).toBe(false);
        await eventually("it was given its environment", () => readOrEmpty(join(workspace, "given")) === "by-hand\n");
        expect(await containers()).toHaveLength(1);
        rmSync(join(workspace, "given"));
        home.failAt(point);
        await home.run(["restart", "one"]);
        await eventually("it has it again", () => readOrEmpty(join(workspace, "given")) === "by-hand\n");
        await isRunning("one");
        await eventually("one container is left", async () => (await containers()).length === 1);
      },
      120_000,
    );

    test("out of memory is told as such", async () => {
      // The shell keeps all of it in a variable; tmux and the wrapper stay small.
      const script = "a=x; while :; do a=$a$a; done";
      await start("greedy", script);
      await eventually("it died", async () => (await state("greedy")) === "error", 60_000);
      expect(await home.session("greedy")).toMatchObject({ failure: "out-of-memory" });
    }, 120_000);

    test("what is wrong with a start is said before anything is made", async () => {
      const refused = async (...args: readonly string[]): Promise<string> => {
        const { status, stderr, stdout } = await home.run(["start", "command", ...args, "--", "sh", "-c", "true"]);
        expect(`${status} ${stdout}`).not.toMatch(/^0/);
        return stderr;
      };
      const docker = ["--runtime", "docker", "--cwd", workspace];
      expect(await refused(...docker, "--image", "nobody/has:this")).toContain("has no image nobody/has:this");
      expect(await refused(...docker, "--memory", "1m")).toContain("64m of memory or more");
      expect(await refused(...docker, "--memory", "lots")).toContain("2g or 512m");
      expect(await refused(...docker, "--mount", `${workspace}/none:/data`)).toContain("to mount");
      expect(await refused(...docker, "--mount", `${home.dir}:/data`)).toContain("Reeve's own files");
      expect(await refused("--runtime", "docker", "--cwd", home.dir)).toContain("Reeve's own files");
      expect(await refused("--runtime", "docker", "--cwd", "/")).toContain("Reeve's own files");
      expect(await refused("--cwd", workspace, "--image", "x")).toContain("--runtime docker");
      const missing = await home.run(["start", "command", ...docker, "--", "no-such-program"]);
      expect(missing.stderr).toContain(`in the image ${SESSION_IMAGE}`);
      expect(await home.list()).toEqual([]);
      mkdirSync(join(workspace, "data"));
      writeFileSync(join(workspace, "data", "file"), "mounted\n");
      await start(
        "mounted",
        "cat /data/file >seen; echo x >/data/other || echo refused >>seen; sleep 1000",
        "--mount",
        `${workspace}/data:/data:ro`,
      );
      await eventually("it was seen", () => readOrEmpty(join(workspace, "seen")) === "mounted\nrefused\n");
    }, 120_000);

    test("doctor says which engine it is and whether live-restore is on", async () => {
      const { checks } = await home.json<{ checks: { what: string; status: string; detail: string }[] }>("doctor");
      const docker = checks.find(({ what }) => what === "docker");
      expect(docker).toMatchObject({ status: "ok" });
      expect(docker?.detail).toMatch(/^Docker Engine \d.*live-restore is on/);
    }, 60_000);
  },
);

function readOrEmpty(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}
