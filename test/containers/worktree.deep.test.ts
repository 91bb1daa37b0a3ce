/** `--worktree` and `--persist-session` of a session in a container. */
import { mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type DockerEngine, engineImpediment, startDockerEngine } from "../support/docker-engine.ts";
import { eventually } from "../support/eventually.ts";
import { readIfThere } from "../support/read-if-there.ts";
import { SESSION_IMAGE } from "../support/session-image.ts";
import { createTestHome, runProgram, type TestHome } from "../support/test-home.ts";

const impediment = engineImpediment();
const PERSON = ["-c", "user.name=a", "-c", "user.email=a@example.org"];

describe.skipIf(impediment !== null)(
  `worktrees in containers${impediment === null ? "" : ` (skipped: ${impediment})`}`,
  () => {
    let engine: DockerEngine;
    let home: TestHome;
    beforeAll(async () => {
      engine = await startDockerEngine({ liveRestore: true });
    }, 120_000);
    afterAll(() => engine.dispose(), 60_000);
    beforeEach(() => {
      home = createTestHome();
      home.configure(`[docker]\nhost = "${engine.host}"\nimage = "${SESSION_IMAGE}"\n`);
    });
    afterEach(() => home.dispose());

    test("a commit made inside is in the repository, and what was shown is kept", async () => {
      const repository = join(home.dir, "repository");
      mkdirSync(repository);
      const git = async (...args: readonly string[]): Promise<string> => {
        const result = await runProgram("git", [...PERSON, "-C", repository, ...args], home.environment);
        expect(`${result.status} ${result.stderr}`).toMatch(/^0/);
        return result.stdout.trim();
      };
      await git("init", "-q", "-b", "main");
      await git("commit", "-q", "--allow-empty", "-m", "first");
      const script = `git ${PERSON.join(" ")} commit --allow-empty -m inside && echo committed it; cat`;
      const words = ["--runtime", "docker", "--cwd", repository, "--worktree", "--branch", "task", "--persist-session"];
      await home.json("start", "command", "--name", "one", ...words, "--", "sh", "-c", script);
      await eventually(
        "it is in the repository",
        async () => (await git("log", "-1", "--format=%s", "task")) === "inside",
      );
      const { outputs_dir: directory } = await home.session("one");
      await eventually("its terminal is kept", () =>
        readIfThere(join(String(directory), "terminal.cast"))?.includes("committed it"),
      );
      await home.json("restart", "one");
      await eventually("it ran again", async () => (await git("rev-list", "--count", "task")) === "3");
      await home.json("end", "one");
      expect(readdirSync(String(directory))).toEqual(expect.arrayContaining(["session.log", "runtime.json"]));
    }, 180_000);
  },
);
