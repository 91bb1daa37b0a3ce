/**
 * The queue and a manifest with sessions in containers, through the real CLI over a real Docker Engine: what
 * the role or the manifest says about the container is what the engine has, the work is done in there, and nothing stays.
 */
import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, realpathSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type DockerEngine, engineImpediment, startDockerEngine } from "../support/docker-engine.ts";
import { createDockerHome, type DockerHome } from "../support/docker-home.ts";
import { eventually } from "../support/eventually.ts";
import { DATA, machineArchive, PROGRAMS, SESSION_IMAGE } from "../support/session-image.ts";

const impediment = engineImpediment();
const DIST = join(import.meta.dirname, "..", "..", "dist");
const NODE = realpathSync(join(import.meta.dirname, "..", "..", "node_modules", "node", "bin", "node"));
/**
 * The practice agent is started by the path of Node on this machine: there it has a file, which a start looks for, and the
 * role mounts Node itself over that. A file alone would not do: below /tmp nothing of the image is seen.
 */
const IMAGE = "reeve-test-practice:1";

interface Inspected {
  readonly Config: { readonly Image: string; readonly Labels: Readonly<Record<string, string>> };
  readonly Mounts: readonly { readonly Destination: string }[];
  readonly HostConfig: Readonly<Record<"Memory" | "NanoCpus" | "PidsLimit" | "NetworkMode", unknown>>;
}

describe.skipIf(impediment !== null)(
  `work in containers${impediment === null ? "" : ` (skipped: ${impediment})`}`,
  () => {
    let engine: DockerEngine;
    let home: DockerHome;
    beforeAll(async () => {
      engine = await startDockerEngine({ liveRestore: true });
      const lay = (root: string): void => {
        mkdirSync(join(root, dirname(NODE)), { recursive: true });
        writeFileSync(join(root, NODE), "");
        chmodSync(join(root, NODE), 0o755);
      };
      await engine.importImage(
        machineArchive("practice-image", PROGRAMS, DATA, lay, [NODE, import.meta.filename]),
        IMAGE,
      );
    }, 120_000);
    afterAll(() => engine.dispose(), 60_000);
    beforeEach(() => {
      home = createDockerHome(
        engine,
        `[role.builder]
runtime = "docker"
image = "${IMAGE}"
memory = "512m"
cpus = 1.5
pids = 90
network = "none"
mounts = ["${dirname(NODE)}:${dirname(NODE)}:ro", "${DIST}:${DIST}:ro"]
`,
      );
    });
    afterEach(() => home.leave(), 120_000);

    const inspected = async (session: string): Promise<Inspected> => {
      const [found] = await home.containers(session);
      return (await engine.call("GET", `/containers/${found?.Id}/json`)).body as Inspected;
    };

    test("a worker of the queue runs as its role says, does its item, and is gone", { timeout: 180_000 }, async () => {
      const at = ["--agent", "practice", "--role", "builder", "--cwd", home.workspace];
      const { work_id: id } = await home.json<{ work_id: string }>("work", "add", "sleep 3", ...at);
      const running = home.run(["work", "run", "--json"]);
      const worker = await eventually("a worker runs", async () => (await home.list())[0]?.name, 60_000);
      await eventually(
        "it has a container",
        async () => (await home.containers(worker))[0]?.State === "running",
        60_000,
      );
      const { Config, HostConfig } = await inspected(worker);
      expect(Config).toMatchObject({ Image: IMAGE, Labels: { "dev.reeve.role": "builder" } });
      expect(HostConfig).toMatchObject({
        Memory: 512 * 2 ** 20,
        NanoCpus: 1_500_000_000,
        PidsLimit: 90,
        NetworkMode: "none",
      });
      const { status, stdout } = await running;
      expect(JSON.parse(stdout)).toMatchObject({ ended: "done", done: 1, failed: [], open: 0, workers: [] });
      expect(status).toBe(0);
      expect(await home.json("work", "show", id)).toMatchObject({
        state: "done",
        result: { text: "Slept 3 s." },
      });
      expect(await home.state(worker)).toBe("stopped");
      expect(await home.containers()).toEqual([]);
    });

    test("a manifest says more than the role, and down leaves nothing", { timeout: 180_000 }, async () => {
      const git = (...args: readonly string[]) =>
        execFileSync("git", ["-C", home.workspace, ...args], { env: home.environment });
      git("init", "--quiet", "--initial-branch", "main");
      git(
        "-c",
        "user.name=a",
        "-c",
        "user.email=a@localhost",
        "commit",
        "--quiet",
        "--allow-empty",
        "--message",
        "one",
      );
      const manifest = join(home.workspace, "reeve.toml");
      writeFileSync(
        manifest,
        `[[sessions]]
id = "worker"
agent = "command"
command = ["sh", "-c", "echo in >began; sleep 1000"]
branch = "main"
role = "builder"
image = "${SESSION_IMAGE}"
resources = { memory = "128m", pids = 60 }
network = "full"
mounts = []
`,
      );
      expect(await home.run(["up", "--file", manifest])).toMatchObject({ status: 0, stderr: "" });
      await home.isRunning("worker");
      await home.written("began");
      const { Config, HostConfig, Mounts } = await inspected("worker");
      expect(Config).toMatchObject({ Image: SESSION_IMAGE, Labels: { "dev.reeve.role": "builder" } });
      // What it leaves out, its role says.
      expect(HostConfig).toMatchObject({
        Memory: 128 * 2 ** 20,
        NanoCpus: 1_500_000_000,
        PidsLimit: 60,
        NetworkMode: "default",
      });
      expect(Mounts.map(({ Destination }) => Destination)).not.toContain(dirname(NODE));
      const ids = async () => (await home.containers()).map(({ Id }) => Id);
      const before = await ids();
      expect(before).toHaveLength(1);
      expect(await home.run(["up", "--file", manifest])).toMatchObject({ status: 0, stderr: "" });
      expect(await ids()).toEqual(before);
      expect(await home.run(["down", "--file", manifest])).toMatchObject({ status: 0, stderr: "" });
      expect(await home.state("worker")).toBe("stopped");
      expect(await home.containers()).toEqual([]);
    });
  },
);
