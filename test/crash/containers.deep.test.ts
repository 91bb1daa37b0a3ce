/**
 * kill -9 of the daemon, of the Docker Engine, and of both at once, at any point of a start, restart, pause, resume and end
 * of a session in a container: one container in the end or none, what `list` says is so, nothing is left over.
 * REEVE_TEST_ENGINE_ROUNDS=60 kills at so many random moments, REEVE_TEST_SEED=… the same ones again.
 */
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type DockerEngine, engineImpediment, startDockerEngine } from "../support/docker-engine.ts";
import { createDockerHome, type DockerHome } from "../support/docker-home.ts";
import { eventually } from "../support/eventually.ts";
import { readIfThere } from "../support/read-if-there.ts";
import type { SessionRow } from "../support/test-home.ts";
import { crashingAt, expectEventLogComplete } from "./crashing.ts";

const impediment = engineImpediment();
const ROUNDS = Number(process.env["REEVE_TEST_ENGINE_ROUNDS"] ?? 1);
const SEED = Number(process.env["REEVE_TEST_SEED"] ?? 14);
const LONG_MS = 120_000 + ROUNDS * 60_000;

describe.skipIf(impediment !== null)(
  `sessions in containers and kill -9${impediment === null ? "" : ` (skipped: ${impediment})`}`,
  () => {
    describe.each([true, false])("live-restore: %s", (liveRestore) => {
      let engine: DockerEngine;
      let home: DockerHome;
      beforeAll(async () => {
        engine = await startDockerEngine({ liveRestore });
      }, 120_000);
      afterAll(() => engine.dispose(), 60_000);
      beforeEach(() => {
        home = createDockerHome(engine);
      });
      afterEach(() => home.leave(), 120_000);

      const SCRIPT = 'echo "$$" >>begun; while read x; do echo "$x" >>heard; done';

      /** What `list` says of it is what the engine has, at most 5 s later; whichever way it went. */
      const isTrue = (name: string): Promise<string> =>
        eventually(
          "list and engine agree",
          async () => {
            const { state, liveness } = await home.session(name);
            const found = await home.containers(name);
            if (found.length > 1) return false;
            const is = found[0]?.State ?? "none";
            if (state === "running" && liveness === "running") return is === "running" && state;
            if (state === "paused") return ["running", "paused"].includes(is) && state;
            if (state === "stopped") return is === "none" && state;
            // The engine without live-restore ends what it finds when it is started.
            return state === "error" && is !== "running" && is !== "paused" && state;
          },
          60_000,
        );

      const kills = ["daemon", "engine", "both"] as const;
      const kill = async (what: (typeof kills)[number]): Promise<void> => {
        if (what !== "engine") home.killRunningDaemon();
        if (what === "daemon") return;
        await engine.kill();
        await engine.start();
      };

      test(
        `killed at ${ROUNDS} random moments of each verb: nothing twice, nothing left, and list tells the truth`,
        { timeout: 5 * LONG_MS },
        async () => {
          const random = seeded(SEED + (liveRestore ? 1 : 0));
          const agreed: number[] = [];
          const verbs = {
            start: (name: string) => [
              "start",
              "command",
              "--runtime",
              "docker",
              "--cwd",
              home.workspace,
              "--name",
              name,
              "--",
              "sh",
              "-c",
              SCRIPT,
            ],
            restart: (name: string) => ["restart", name],
            pause: (name: string) => ["pause", name, "--suspend"],
            resume: (name: string) => ["resume", name],
            end: (name: string) => ["end", name, "--when", "now", "--grace", "0"],
          };
          for (let round = 0; round < ROUNDS; round += 1) {
            const name = `round-${round}`;
            // In three rounds each verb meets each way once, in an order of its own.
            for (const [index, verb] of (["start", "restart", "pause", "resume", "end"] as const).entries()) {
              const what = kills[(round + index) % kills.length] ?? "both";
              const doing = home.run(verbs[verb](name));
              await new Promise((resolve) => setTimeout(resolve, random() * 1_500));
              await kill(what);
              const since = performance.now();
              const said = await doing;
              const where = `round ${round}, ${verb}, ${what} killed, seed ${SEED}: ${said.stdout}${said.stderr}`;
              const listed = (await home.list()).filter((session) => session.name === name);
              expect(listed.length, where).toBeLessThanOrEqual(1);
              if (listed.length === 0) {
                // A start that was refused because no engine answered; nothing may have been made.
                expect(said.status, where).not.toBe(0);
                expect(await home.containers(), where).toEqual([]);
                await home.json(...verbs.start(name));
              }
              await isTrue(name).catch(async (error: unknown) => {
                const now = { session: await home.session(name), containers: await home.containers(name) };
                throw new Error(`${where}: ${String(error)}: ${JSON.stringify(now)}`);
              });
              agreed.push(performance.now() - since);
              if (verb === "end" || (await home.state(name)) !== "error") continue;
              await home.json("restart", name);
              await home.isRunning(name);
            }
            await home.run(verbs.end(name));
            await eventually("it is stopped", async () => (await home.state(name)) === "stopped", 60_000);
            expect(await home.containers(name)).toEqual([]);
          }
          await expectEventLogComplete(home);
          agreed.sort((a, b) => a - b);
          const at = (part: number): number => Math.round(agreed[Math.floor((agreed.length - 1) * part)] ?? 0);
          console.log(
            `kill -9, live-restore ${liveRestore}: ${agreed.length} kills; list was true after ${at(0.5)} ms (median), ${at(1)} ms (longest)`,
          );
        },
      );

      test(
        "what was there is listed as it is within 5 s after the engine answers again",
        { timeout: LONG_MS },
        async () => {
          const names = ["a", "b", "c"];
          const told: string[] = [];
          for (const name of names) await home.startScript(name, SCRIPT);
          for (const name of names) await home.isRunning(name);
          for (const what of ["engine", "both", "daemon while there is no engine"] as const) {
            if (what !== "engine") home.killRunningDaemon();
            await engine.kill();
            const are = async (is: (session: SessionRow) => boolean): Promise<boolean> => (await home.list()).every(is);
            if (what === "daemon while there is no engine")
              await eventually("nobody can say", () => are(({ liveness }) => liveness === "unreachable"));
            await engine.start();
            const since = performance.now();
            const wanted = liveRestore ? "running" : "error";
            await eventually(
              "it is so",
              () => are((is) => is.state === wanted && is.liveness !== "unreachable"),
              60_000,
            );
            const ms = performance.now() - since;
            told.push(`${what} ${Math.round(ms)} ms`);
            expect(ms, what).toBeLessThan(5_000);
            if (liveRestore) continue;
            for (const name of names) await home.json("restart", name);
            for (const name of names) await home.isRunning(name);
          }
          console.log(
            `kill -9, live-restore ${liveRestore}: list was true after the engine answered: ${told.join(", ")}`,
          );
          for (const name of names) expect(await home.containers(name)).toHaveLength(1);
        },
      );

      // Named points are the daemon's own business: once is enough.
      if (!liveRestore) return;
      const points = [
        ["end", "end.after-commit"],
        ["end", "stop.before-effect"],
        ["end", "stop.after-signals"],
        ["end", "found-exited.after-commit"],
        ["end", "destroy.after-container"],
        ["end", "stop.after-effect"],
        ["end", "cleared.before-commit"],
        ["pause", "suspend.before-effect"],
        ["pause", "suspend.after-effect"],
        ["resume", "release.before-effect"],
        ["resume", "release.after-effect"],
        ["restart", "stop.after-signals"],
        ["restart", "stop.after-effect"],
        ["restart", "cleared.after-commit"],
      ] as const;
      test("the daemon killed at named points of pause, resume, restart and end", { timeout: 480_000 }, async () => {
        home.failAt("probe.after-container");
        await home.startScript("one", SCRIPT);
        expect(home.isFailpointArmed()).toBe(false);
        await home.isRunning("one");
        for (const [verb, point] of points) {
          if (verb === "resume") await home.json("pause", "one", "--suspend");
          const args = verb === "pause" ? ["pause", "one", "--suspend"] : [verb, "one"];
          // On a busy machine the next daemon needs longer than the command waits: what becomes of it counts.
          await crashingAt(home, point, async () => void (await home.run(args)));
          const wanted = verb === "end" ? "stopped" : verb === "pause" ? "paused" : "running";
          await eventually(`${verb} at ${point} was done`, async () => (await home.state("one")) === wanted, 60_000);
          const found = await home.containers("one");
          expect([verb, point, found.map(({ State }) => State)]).toEqual([
            verb,
            point,
            verb === "end" ? [] : [verb === "pause" ? "paused" : "running"],
          ]);
          if (verb === "pause") await home.run(["resume", "one"]);
          if (verb === "end") await home.run(["restart", "one"]);
          await home.isRunning("one");
        }
        await expectEventLogComplete(home);
        const begun = (readIfThere(join(home.workspace, "begun")) ?? "").trim().split("\n").length;
        expect(begun).toBe((await home.events()).filter(({ type }) => type === "session-starting").length);
      });
    });
  },
);

/** The same numbers for the same seed (mulberry32). */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
