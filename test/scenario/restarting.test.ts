/** What does not come up after a restart is reported by the command that asked. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { eventually } from "../support/eventually.ts";
import { inHome } from "../support/in-home.ts";
import type { Result, SessionRow, TestHome } from "../support/test-home.ts";

/** Runs the first time, and does something else from then on. */
const onlyOnce = (then: string): readonly string[] => [
  "sh",
  "-c",
  `if [ -e once ]; then ${then}; fi; touch once; echo up; exec sleep 1000`,
];

async function isUp(home: TestHome): Promise<void> {
  await eventually("it ran once", () => existsSync(join(home.dir, "once")));
}

function refusalOf(result: Result): { readonly code: string; readonly message: string } {
  return (JSON.parse(result.stdout) as { error: { code: string; message: string } }).error;
}

test.concurrent("a command that dies at once: the restart fails, and says what it said last", () =>
  inHome("", async (home) => {
    const program = onlyOnce("echo 'cannot start: no fuel'; exit 42");
    await home.json("start", "command", "--name", "engine", "--cwd", home.dir, "--", ...program);
    await isUp(home);
    const result = await home.run(["restart", "engine", "--json"]);
    expect(result.status).toBe(1);
    const refusal = refusalOf(result);
    expect(refusal.code).toBe("did-not-come-up");
    expect(refusal.message).toContain("exited with status 42");
    expect(refusal.message).toContain("cannot start: no fuel");
    const told = await home.run(["restart", "engine"]);
    expect([told.status, told.stdout]).toEqual([1, ""]);
    expect(told.stderr).toContain("cannot start: no fuel");
    expect(await home.session("engine")).toMatchObject({ state: "error", exit: { code: 42 } });
  }));

test.concurrent("one that would be started again by its policy is reported all the same", () =>
  inHome("", async (home) => {
    const program = onlyOnce("exit 3");
    const options = ["--name", "engine", "--restart", "on-failure", "--cwd", home.dir];
    await home.json("start", "command", ...options, "--", ...program);
    await isUp(home);
    const result = await home.run(["restart", "engine", "--json"]);
    expect([result.status, refusalOf(result).code]).toEqual([1, "did-not-come-up"]);
  }));

test.concurrent("what comes up, or ends well at once, is done", () =>
  inHome("", async (home) => {
    await home.json("start", "command", "--name", "steady", "--cwd", home.dir, "--", "sleep", "1000");
    await home.json("start", "command", "--name", "brief", "--cwd", home.dir, "--", ...onlyOnce("exit 0"));
    await home.json("start", "practice", "--name", "helper", "say hello");
    await isUp(home);
    for (const [name, state] of [
      ["steady", "running"],
      ["brief", "stopped"],
      ["helper", "running"],
    ] as const) {
      const { done, session } = await home.json<{ done: boolean; session: SessionRow }>("restart", name);
      expect({ name, done, state: session.state }).toEqual({ name, done: true, state });
    }
  }));
