/** How a session in a container is started and spoken to, against a real Docker Engine: without an exec, and what then. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { isDead, listProcesses, readCommandLine } from "../../src/platform/process-table.ts";
import { makeDockerFixture } from "../conformance/docker-fixture.ts";
import { first, useGround } from "../conformance/runtime-ground.ts";
import { type DockerEngine, engineImpediment, startDockerEngine } from "../support/docker-engine.ts";
import { eventually } from "../support/eventually.ts";
import { killIfThere } from "../support/kill.ts";
import { SESSION_IMAGE } from "../support/session-image.ts";
import { createTestHome } from "../support/test-home.ts";

const impediment = engineImpediment();

describe.skipIf(impediment !== null)(
  `the start of a container${impediment === null ? "" : ` (skipped: ${impediment})`}`,
  () => {
    let engine: DockerEngine;
    beforeAll(async () => {
      engine = await startDockerEngine({ liveRestore: true });
    }, 120_000);
    afterAll(() => engine.dispose(), 60_000);
    const ground = useGround(() => makeDockerFixture(engine));
    const { shell } = ground;
    const inspect = async (): Promise<{ readonly ExecIDs: unknown; readonly State: { readonly Pid: number } }> => {
      const [id = ""] = await ground.fixture.containers();
      return (await engine.call("GET", `/containers/${id}/json`)).body as Awaited<ReturnType<typeof inspect>>;
    };

    it("needs no exec: not for the start, nor to type and to look", { timeout: 60_000 }, async () => {
      await ground.runtime.create(shell(first, 'echo "$$" >began; while read x; do echo "$x" >>got; done'));
      await ground.written("began");
      await ground.runtime.send(first, [{ type: "paste", text: "hello\n" }]);
      expect(await ground.written("got")).toBe("hello\n");
      expect((await ground.runtime.observe(first)).status).toBe("running");
      expect((await inspect()).ExecIDs).toBeNull();
    });

    it("leaves the environment out of what the engine keeps", { timeout: 60_000 }, async () => {
      const environment = { PATH: "/usr/bin:/bin", GIVEN: "a-value-of-its-own" };
      await ground.runtime.create({ ...shell(first, 'echo "$GIVEN" >new; mv new given; sleep 100'), environment });
      expect(await ground.written("given")).toBe("a-value-of-its-own\n");
      expect(JSON.stringify(await inspect())).not.toContain("a-value-of-its-own");
    });

    it("is spoken to again after somebody killed its first control client", { timeout: 60_000 }, async () => {
      await ground.runtime.create(shell(first, 'echo >began; while read x; do echo "$x" >>got; done'));
      await ground.written("began");
      const server = (await inspect()).State.Pid;
      const client = listProcesses().find(
        (row) => !isDead(row) && isBelow(row.pid, server) && /^tmux .*-C/.test(readCommandLine(row.pid)),
      );
      expect(readCommandLine(client?.pid ?? 0)).toMatch(/tmux.*-C.*attach-session/);
      killIfThere(client?.pid ?? 0);
      const status = async (): Promise<string> => (await ground.runtime.observe(first)).status;
      await eventually("it is reached again", async () => (await status()) === "running", 30_000);
      await ground.runtime.send(first, [{ type: "paste", text: "again\n" }]);
      expect(await ground.written("got")).toBe("again\n");
      expect(await ground.runtime.stop(first, { graceMs: 2_000 })).toMatchObject({ survivors: [], terminated: 1 });
    });

    it("says of a workspace and of limits that are not allowed what to change", { timeout: 60_000 }, async () => {
      const home = createTestHome();
      const workspace = mkdtempSync(join(tmpdir(), "reeve-work-"));
      try {
        home.configure(`[docker]\nhost = "${engine.host}"\nimage = "${SESSION_IMAGE}"\nworkspaces = ["/srv/src"]\n`);
        const refused = async (cwd: string, ...more: readonly string[]): Promise<string> => {
          const args = ["start", "command", "--runtime", "docker", "--cwd", cwd, ...more, "--", "sh"];
          const { status, stderr } = await home.run(args);
          expect(status).not.toBe(0);
          return stderr;
        };
        expect(await refused(workspace)).toContain("outside of what sessions in containers may work in");
        home.configure(`[docker]\nhost = "${engine.host}"\nimage = "${SESSION_IMAGE}"\n`);
        await home.run(["daemon", "stop"]);
        expect(await refused(workspace, "--pids", "2")).toContain("processes or more");
        expect(await refused(workspace, "--cpus", "0.001")).toContain("0.01 or more");
        expect(await home.list()).toEqual([]);
      } finally {
        await home.dispose();
        rmSync(workspace, { recursive: true, force: true });
      }
    });
  },
);

function isBelow(pid: number, ancestor: number): boolean {
  const rows = new Map(listProcesses().map((row) => [row.pid, row.ppid]));
  for (let at = pid; at > 1; at = rows.get(at) ?? 0) if (at === ancestor) return true;
  return false;
}
