/**
 * `reeve doctor` for a session in a container without a network: a healthy service of this machine is never
 * called down, and an image without Node is said to be that, with what to do.
 */
import { copyFileSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type DockerEngine, engineImpediment, startDockerEngine } from "../support/docker-engine.ts";
import { createDockerHome, type DockerHome } from "../support/docker-home.ts";
import { doctor, type Layer, statusesOf, verdictOf } from "../support/doctor.ts";
import { type LoopbackService, loopbackService } from "../support/loopback-service.ts";
import { DATA, machineArchive, PROGRAMS } from "../support/session-image.ts";

const impediment = engineImpediment();
const NODE_IMAGE = "reeve-test-node:1";

describe.skipIf(impediment !== null)(
  `diagnosis in containers${impediment === null ? "" : ` (skipped: ${impediment})`}`,
  { timeout: 180_000 },
  () => {
    let engine: DockerEngine;
    let home: DockerHome;
    let service: LoopbackService;
    beforeAll(async () => {
      engine = await startDockerEngine({ liveRestore: true });
      await engine.importImage(machineArchive("node-image", PROGRAMS, DATA, putNode, [process.execPath]), NODE_IMAGE);
      service = await loopbackService();
    }, 120_000);
    afterAll(async () => {
      await service?.stop();
      await engine?.dispose();
    }, 60_000);
    beforeEach(() => {
      home = createDockerHome(engine);
    });
    afterEach(() => home.leave(), 120_000);

    async function inContainer(script: string, ...options: readonly string[]): Promise<() => Promise<Layer>> {
      await home.startScript("one", script, "--network", "none", ...options);
      await home.isRunning("one");
      return async () => (await doctor(home, "one", "--service", `api=${service.url}/health`))("api");
    }

    test("a healthy service is hidden by the network namespace; it is down once it is stopped", async () => {
      const look = await inContainer("sleep 600", "--image", NODE_IMAGE);
      const hidden = await look();
      expect(verdictOf(hidden)).toBe("sandbox-artefact: network namespace");
      expect(statusesOf(hidden)).toEqual({ native: "reached", session: "failed", escalated: "reached" });
      expect(hidden.advice).toContain("--network");
      const { stdout, status } = await home.run(["doctor", "one", "--service", `api=${service.url}/health`]);
      expect(stdout).not.toMatch(/\bdown\b/);
      expect(status).toBe(0);

      await service.stop();
      const gone = await look();
      await service.start();
      expect(verdictOf(gone)).toBe("down");
    });

    test("a service in the container, which nobody else can reach, is healthy", async () => {
      const { port } = new URL(service.url);
      const server = `require("http").createServer((_, answer) => answer.end()).listen(${port}, "127.0.0.1", () => fs.writeFileSync("listens", "yes"))`;
      const look = await inContainer(`exec node -e '${server}'`, "--image", NODE_IMAGE);
      await home.written("listens");
      await service.stop();
      const own = await look();
      await service.start();
      expect(verdictOf(own)).toBe("healthy");
      expect(statusesOf(own)).toEqual({ native: "failed", session: "reached" });
    });

    test("an image without Node: what Reeve itself sees is told, and what to do", async () => {
      const found = await (await inContainer("sleep 600"))();
      expect(verdictOf(found)).toBe("unknown");
      expect(statusesOf(found)).toEqual({ native: "reached", session: "untried" });
      expect(found.detail).toContain("its image has no node");
      expect(found.advice).toMatch(/Put Node .*image/);
    });
  },
);

function putNode(root: string): void {
  const programs = join(root, "usr", "local", "bin");
  mkdirSync(programs, { recursive: true });
  copyFileSync(process.execPath, join(programs, "node"));
}
