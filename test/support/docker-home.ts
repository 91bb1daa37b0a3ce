/** What tests of sessions in containers share: a home over an engine of the test's own, and a directory to work in. */
import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "vitest";
import type { DockerEngine } from "./docker-engine.ts";
import { eventually } from "./eventually.ts";
import { readIfThere } from "./read-if-there.ts";
import { SESSION_IMAGE } from "./session-image.ts";
import { createTestHome, type TestHome } from "./test-home.ts";

export interface Found {
  readonly Id: string;
  readonly State: string;
  readonly Labels: Readonly<Record<string, string>>;
}

export interface DockerHome extends TestHome {
  readonly workspace: string;
  /** A shell script, run by sh in a container of its own; the options are those of `reeve start`. */
  startScript(name: string, script: string, ...options: readonly string[]): Promise<Record<string, unknown>>;
  isRunning(name: string): Promise<void>;
  state(name: string): Promise<string>;
  /** Of this home, or of one session by its name. */
  containers(name?: string): Promise<readonly Found[]>;
  /** What a file in the workspace holds, once it does. */
  written(name: string): Promise<string>;
  /** Ends everything; nothing of it may be left in the engine. */
  leave(): Promise<void>;
}

export function createDockerHome(engine: DockerEngine, settings = ""): DockerHome {
  const home = createTestHome();
  const workspace = realpathSync(mkdtempSync(join(tmpdir(), "reeve-work-")));
  home.configure(`[docker]\nhost = "${engine.host}"\nimage = "${SESSION_IMAGE}"\nmemory = "256m"\n${settings}`);
  const instance = (): string | undefined => readIfThere(join(home.dir, "instance"))?.trim();
  const inEngine = async (): Promise<readonly Found[]> => {
    const { body } = await engine.call("GET", "/containers/json?all=1");
    return (body as readonly Found[]).filter(({ Labels }) => Labels["dev.reeve.home"] === instance());
  };
  const own: DockerHome = {
    ...home,
    workspace,
    startScript: (name, script, ...options) => {
      const docker = ["--runtime", "docker", "--cwd", workspace, "--name", name];
      return home.json("start", "command", ...docker, ...options, "--", "sh", "-c", script);
    },
    async isRunning(name) {
      const runs = eventually(`${name} runs`, async () => (await own.state(name)) === "running", 60_000);
      await runs.catch(async (error: unknown) => {
        const { state, liveness, reason } = await home.session(name);
        throw new Error(`${String(error)}; it is ${state} (${liveness}): ${reason}`);
      });
    },
    state: async (name) => (await home.session(name)).state,
    async containers(name) {
      // A container that is asked for the image's programs lives for a moment.
      const found = (await inEngine()).filter(({ Labels }) => Labels["dev.reeve.session"] !== undefined);
      if (name === undefined) return found;
      const { session_id: id } = await home.session(name);
      return found.filter(({ Labels }) => Labels["dev.reeve.session"] === id);
    },
    written: (name) => eventually(`${name} is written`, () => readIfThere(join(workspace, name)) ?? false, 60_000),
    async leave() {
      await home.dispose();
      try {
        await eventually(
          "nothing of the home is left in the engine",
          async () => (await inEngine()).length === 0,
          90_000,
        );
        const { body } = await engine.call("GET", "/volumes");
        expect((body as { Volumes: readonly unknown[] | null }).Volumes ?? []).toEqual([]);
        const networks = (await engine.call("GET", "/networks")).body as readonly { Name: string }[];
        expect(networks.map(({ Name }) => Name).filter((name) => !["host", "none", "bridge"].includes(name))).toEqual(
          [],
        );
      } finally {
        rmSync(workspace, { recursive: true, force: true });
      }
    },
  };
  return own;
}
