/** The verification list of seed 003, line by line, for sessions in containers. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type DockerEngine, engineImpediment, startDockerEngine } from "../support/docker-engine.ts";
import { createDockerHome, type DockerHome } from "../support/docker-home.ts";
import { eventually } from "../support/eventually.ts";
import { gitIn } from "../support/repository.ts";

const impediment = engineImpediment();
const LISTEN = 'while read x; do echo "$x" >>heard; done';

describe.skipIf(impediment !== null)(
  `seed 003 in containers${impediment === null ? "" : ` (skipped: ${impediment})`}`,
  () => {
    let engine: DockerEngine;
    let home: DockerHome;
    beforeAll(async () => {
      engine = await startDockerEngine({ liveRestore: true });
    }, 120_000);
    afterAll(() => engine.dispose(), 60_000);
    beforeEach(() => {
      home = createDockerHome(engine);
    });
    afterEach(() => home.leave(), 120_000);

    const statesOf = async (id: string): Promise<readonly unknown[]> =>
      (await home.events())
        .filter(({ session_id, type }) => session_id === id && ["session-starting", "session-running"].includes(type))
        .map(({ type }) => type);

    test("start three sessions: unique ids, each starting and then running", { timeout: 180_000 }, async () => {
      const names = ["one", "two", "three"];
      for (const name of names) await home.startScript(name, LISTEN);
      for (const name of names) await home.isRunning(name);
      const sessions = await home.list();
      expect(new Set(sessions.map(({ session_id }) => session_id)).size).toBe(3);
      expect(new Set((await home.containers()).map(({ Id }) => Id)).size).toBe(3);
      for (const { session_id } of sessions)
        expect(await statesOf(session_id)).toEqual(["session-starting", "session-running"]);
    });

    test(
      "pause: what is sent waits while the container remains; resume: it arrives",
      { timeout: 180_000 },
      async () => {
        await home.startScript("one", LISTEN);
        await home.isRunning("one");
        const [before] = await home.containers("one");
        await home.json("pause", "one");
        const sent = await home.run(["send", "one", "held", "--timeout", "0", "--json"]);
        expect(JSON.parse(sent.stdout)).toMatchObject({ state: "admitted" });
        expect(await home.containers("one")).toMatchObject([{ Id: before?.Id, State: "running" }]);
        expect(await home.state("one")).toBe("paused");
        await home.json("resume", "one");
        expect(await home.written("heard")).toBe("held\n");
        expect(await home.containers("one")).toMatchObject([{ Id: before?.Id }]);
      },
    );

    test.each(["stop?t=1", "kill"])(
      "force-stop a container (%s): error; with --restart on-failure it is started again",
      { timeout: 180_000 },
      async (how) => {
        await home.startScript("left", LISTEN);
        await home.startScript("kept", LISTEN, "--restart", "on-failure");
        for (const name of ["left", "kept"]) await home.isRunning(name);
        const [before] = await home.containers("kept");
        for (const name of ["left", "kept"])
          for (const { Id } of await home.containers(name)) await engine.call("POST", `/containers/${Id}/${how}`);
        await eventually("it is in error", async () => (await home.state("left")) === "error", 60_000);
        const stateFile = join(String((await home.session("left"))["outputs_dir"]), "state.json");
        await eventually("its state.json says so", () => {
          const { session } = JSON.parse(readFileSync(stateFile, "utf8")) as { session: { state: string } };
          return session.state === "error";
        });
        await eventually(
          "the other runs in a new container",
          async () => {
            const [now, ...more] = await home.containers("kept");
            return more.length === 0 && now?.State === "running" && now.Id !== before?.Id && (await home.state("kept"));
          },
          60_000,
        );
        await home.isRunning("kept");
      },
    );

    test("after a restart of the daemon: the same sessions in the same containers", { timeout: 180_000 }, async () => {
      for (const name of ["one", "two"]) await home.startScript(name, LISTEN);
      for (const name of ["one", "two"]) await home.isRunning(name);
      const idsOf = async () => (await home.containers()).map(({ Id }) => Id).toSorted();
      const before = { ids: await idsOf(), sessions: (await home.list()).map(({ session_id }) => session_id) };
      await home.killDaemon();
      expect((await home.list()).map(({ session_id }) => session_id)).toEqual(before.sessions);
      for (const name of ["one", "two"]) await home.isRunning(name);
      await home.run(["send", "two", "again"]);
      expect(await home.written("heard")).toBe("again\n");
      expect(await idsOf()).toEqual(before.ids);
    });

    test("a manifest starts its sessions in containers", { timeout: 180_000 }, async () => {
      gitIn(home.workspace, "init", "--quiet", "--initial-branch", "main");
      gitIn(
        home.workspace,
        "-c",
        "user.name=S",
        "-c",
        "user.email=s@example.com",
        "commit",
        "-q",
        "--allow-empty",
        "-m",
        "x",
      );
      const manifest = join(home.workspace, "reeve.toml");
      const session = (id: string): string =>
        `[[sessions]]\nid = "${id}"\ncommand = ["sh", "-c", '${LISTEN}']\nbranch = "main"\nallow_shared_checkout = true\nruntime = "docker"\nrestart = "on-failure"\n`;
      writeFileSync(manifest, `[defaults]\nagent = "command"\n${session("first")}${session("second")}`);
      const up = await home.run(["up", "--file", manifest]);
      expect(up.status, up.stdout + up.stderr).toBe(0);
      for (const name of ["first", "second"]) {
        await home.isRunning(name);
        expect(await home.containers(name)).toHaveLength(1);
      }
      const again = await home.run(["up", "--file", manifest]);
      expect(again.status).toBe(0);
      expect(await home.containers()).toHaveLength(2);
    });
  },
);
