/**
 * What is missing is said: doctor does not call it well without tmux or for an agent that is not logged
 * in, and a start without tmux is refused before anything is recorded.
 */
import { existsSync, mkdirSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { findExecutable } from "../../src/platform/executable.ts";
import { claudeHome, codexHome, geminiHome } from "../scripted-model/agent-homes.ts";
import { eventually } from "../support/eventually.ts";
import { inHome } from "../support/in-home.ts";
import type { TestHome } from "../support/test-home.ts";

interface Check {
  readonly what: string;
  readonly status: string;
  readonly detail: string;
  readonly advice: string | null;
  readonly login: string | null;
}

/** A PATH on which only node is, and what the test puts there. */
function barePath(home: TestHome): string {
  const directory = join(home.dir, "bin");
  mkdirSync(directory);
  const node = findExecutable("node", { cwd: "/", path: home.environment["PATH"] });
  symlinkSync(node ?? "", join(directory, "node"));
  return directory;
}

async function doctor(home: TestHome, environment: Readonly<Record<string, string>>) {
  const { status, stdout } = await home.run(["doctor", "--json"], { environment });
  const { healthy, checks } = JSON.parse(stdout) as { healthy: boolean; checks: Check[] };
  return { status, healthy, of: (what: string) => checks.find((check) => check.what === what) };
}

describe("without tmux", () => {
  const start = ["start", "command", "--name", "job", "--", "/bin/sleep", "600"];

  test.each([
    ["missing", null, "tmux-missing", /^There is no tmux that can be run \(ENOENT.*; install tmux 3\.2 or newer/],
    [
      "too old",
      "#!/bin/sh\necho tmux 2.9a\n",
      "tmux-too-old",
      /^This machine has "tmux 2\.9a"; install tmux 3\.2 or newer/,
    ],
  ])(
    "%s: doctor fails, start is refused and nothing is recorded; with tmux it works at once",
    async (_what, program, code, says) => {
      await inHome("", async (home) => {
        const directory = barePath(home);
        if (program !== null) writeFileSync(join(directory, "tmux"), program, { mode: 0o755 });
        const bare = { PATH: directory };
        const found = await doctor(home, bare);
        expect(found).toMatchObject({ status: 1, healthy: false });
        expect(found.of("tmux")).toMatchObject({ status: "problem", detail: expect.stringMatching(says) as string });
        expect(await home.run(["doctor"], { environment: bare })).toMatchObject({
          status: 1,
          stdout: expect.stringMatching(/^problem +tmux .*install tmux/m) as string,
        });

        for (const args of [start, [...start.slice(0, 2), "--wait", ...start.slice(2)]]) {
          const refused = await home.run(args, { environment: bare });
          expect(refused).toMatchObject({ status: 78, stdout: "", stderr: expect.stringMatching(says) as string });
        }
        const { stdout } = await home.run(["start", "practice", "--json"], { environment: bare });
        expect(JSON.parse(stdout)).toMatchObject({ error: { code } });
        expect(JSON.parse((await home.run(["list", "--all", "--json"], { environment: bare })).stdout)).toMatchObject({
          sessions: [],
        });
        const outputs = join(home.dir, "outputs");
        expect(existsSync(outputs) ? readdirSync(outputs, { recursive: true }) : []).not.toContain("state.json");

        // Installed now, where the same daemon looks.
        rmSync(join(directory, "tmux"), { force: true });
        symlinkSync(
          findExecutable("tmux", { cwd: "/", path: home.environment["PATH"] }) ?? "",
          join(directory, "tmux"),
        );
        expect((await doctor(home, bare)).of("tmux")).toMatchObject({
          status: "ok",
          detail: expect.stringMatching(/^tmux \d+\.\d+; /) as string,
        });
        expect((await home.run(start, { environment: bare })).status).toBe(0);
        await eventually("it runs", async () => (await home.session("job")).state === "running");
        // Where a server runs, tmux need not be found again.
        rmSync(join(directory, "tmux"));
        const other = ["start", "command", "--name", "other", "--", "/bin/sleep", "600"];
        expect((await home.run(other, { environment: bare })).status).toBe(0);
      });
    },
  );
});

describe("an agent's log-in, with the real programs", () => {
  const AGENTS = { codex: codexHome, claude: claudeHome, gemini: geminiHome } as const;

  test.each(Object.keys(AGENTS) as (keyof typeof AGENTS)[])("%s", async (agent) => {
    await inHome("", async (home) => {
      const user = async (name: string, loggedIn: boolean): Promise<Record<string, string>> => {
        const dir = join(home.dir, name);
        mkdirSync(dir);
        const { environment } = await AGENTS[agent](dir, "http://127.0.0.1:9", { loggedIn });
        return { ...environment, PATH: home.environment["PATH"] ?? "" };
      };
      const known = await doctor(home, await user("known", true));
      expect(known.of(agent)).toMatchObject({ status: "ok", login: "logged-in", advice: null });
      const stranger = await user("stranger", false);
      const unknown = await doctor(home, stranger);
      expect(unknown.of(agent)).toMatchObject({
        status: "warning",
        login: "logged-out",
        detail: expect.stringContaining("not logged in (") as string,
        advice: expect.stringMatching(new RegExp(`^Log in with: ${agent}`)) as string,
      });
      const { stdout } = await home.run(["doctor"], { environment: stranger });
      expect(stdout).toMatch(new RegExp(`^warning +${agent} `, "m"));
      expect(stdout).toMatch(new RegExp(`\\n\\n.*Not logged in: [^.]*${agent}`));
      expect(stdout).not.toContain("All is well");
    });
  });
});
