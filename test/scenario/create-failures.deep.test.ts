/** A process that cannot be created at once: why is said, its environment is kept, and it is not tried for ever. */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { askDaemon, askSession } from "../support/ask-daemon.ts";
import { eventually } from "../support/eventually.ts";
import { inHome } from "../support/in-home.ts";
import type { Result, TestHome } from "../support/test-home.ts";

/** The machine's tmux, which fails for as long as `break` says so. */
function breakableTmux(home: TestHome): { readonly path: string; break(): void; mend(): void } {
  const directory = join(home.dir, "bin");
  const flag = join(home.dir, "tmux-is-broken");
  mkdirSync(directory);
  writeFileSync(
    join(directory, "tmux"),
    `#!/bin/sh\n[ -e ${flag} ] && echo "no more ptys" >&2 && exit 1\nPATH=\${PATH#*:} exec tmux "$@"\n`,
    { mode: 0o755 },
  );
  return {
    path: `${directory}:${home.environment["PATH"] ?? ""}`,
    break: () => writeFileSync(flag, ""),
    mend: () => rmSync(flag),
  };
}

const dump = ["sh", "-c", "env > seen; echo END >> seen; sleep 600"];

async function seen(home: TestHome): Promise<readonly string[]> {
  return await eventually("the environment was written", () => {
    try {
      const lines = readFileSync(join(home.dir, "seen"), "utf8").split("\n");
      return lines.includes("END") && lines;
    } catch {
      return false;
    }
  });
}

function start(
  home: TestHome,
  environment: Readonly<Record<string, string>>,
  ...options: readonly string[]
): Promise<Result> {
  const args = ["start", "command", "--name", "late", "--cwd", home.dir, ...options, "--", ...dump];
  return home.run(args, { environment });
}

test.concurrent(
  "the second try has the caller's environment, and until then the reason says what fails",
  { timeout: 90_000 },
  () =>
    inHome("", async (home) => {
      const tmux = breakableTmux(home);
      tmux.break();
      expect(await home.run(["daemon", "start"], { environment: { PATH: tmux.path } })).toMatchObject({ status: 0 });
      expect(await start(home, { MINE: "the caller's" }, "--env", "GIVEN=by hand")).toMatchObject({ status: 0 });
      const waiting = await eventually("it failed twice", async () => {
        const session = await askSession(home, "late");
        return session?.reason.includes("2 times") === true && session;
      });
      expect(waiting).toMatchObject({
        state: "starting",
        reason_code: "tmux-not-started",
        reason: expect.stringMatching(
          /^Not started yet: tmux could not be run: no more ptys\. Failed 2 times since \S+Z; trying again\.$/,
        ) as string,
        evidence: { source: "runtime", detail: "tmux could not be run: no more ptys." },
      });
      expect((await home.run(["list"])).stdout).toContain("no more ptys");
      tmux.mend();
      expect(await seen(home)).toEqual(expect.arrayContaining(["MINE=the caller's", "GIVEN=by hand"]));
      expect(await home.session("late")).toMatchObject({ state: "running", reason_code: "process-started" });
      const told = (await home.events()).filter((event) => event.type === "start-delayed");
      expect(told).toHaveLength(1);
    }),
);

// Alone: how often it is tried within a second depends on how busy the machine is.
test("what cannot be created is given up with the reason, and waiters wake", { timeout: 90_000 }, () =>
  inHome("[sessions]\nstart_patience_seconds = 1\n", async (home) => {
    const tmux = breakableTmux(home);
    tmux.break();
    expect(await home.run(["daemon", "start"], { environment: { PATH: tmux.path } })).toMatchObject({ status: 0 });
    await start(home, {});
    const woken = await home.json("wait", "late", "--for", "exited", "--timeout", "25");
    expect(woken).toMatchObject({ done: true, reason: "exited" });
    expect(await home.session("late")).toMatchObject({
      state: "error",
      reason_code: "tmux-not-started",
      reason: expect.stringMatching(
        /^tmux could not be run: no more ptys\. Given up after 5 times since \S+Z\.$/,
      ) as string,
    });
    tmux.mend();
    expect(await home.run(["restart", "late"])).toMatchObject({ status: 0 });
    await eventually("it runs", async () => (await home.session("late")).state === "running");
  }),
);

test.concurrent.each(["start.after-commit", "create.before-effect", "planned.before-commit", "create.planned"])(
  "a start whose daemon is killed at %s keeps its environment: its caller brings it again",
  { timeout: 90_000 },
  (point) =>
    inHome("", async (home) => {
      await home.json("daemon", "start");
      home.failAt(point);
      expect(await start(home, { MINE: "the caller's" }, "--env", "GIVEN=by hand")).toMatchObject({ status: 0 });
      expect(home.isFailpointArmed()).toBe(false);
      expect(await seen(home)).toEqual(expect.arrayContaining(["MINE=the caller's", "GIVEN=by hand"]));
      expect(await home.list()).toHaveLength(1);
    }),
);

test.concurrent("without a caller who repeats it, what is lost is said", { timeout: 90_000 }, () =>
  inHome("", async (home) => {
    await home.json("daemon", "start");
    const body = { agent: "command", args: dump, cwd: home.dir, environment: home.environment };
    home.failAt("start.after-commit");
    expect(await askDaemon(home, "/v1/sessions", { ...body, name: "late", env: { GIVEN: "by hand" } })).toBeNull();
    const lost = await eventually("it is given up", async () => {
      const session = await home.session("late");
      return session.state === "error" && session;
    });
    expect(lost).toMatchObject({
      reason_code: "environment-lost",
      reason:
        "Its environment is gone with the daemon that was to start it, and with it the values of GIVEN; start the session again with --env.",
    });
    home.failAt("start.after-commit");
    expect(await askDaemon(home, "/v1/sessions", { ...body, name: "plain" })).toBeNull();
    await eventually("it is given up", async () => (await home.session("plain")).state === "error");
    expect(await home.session("plain")).toMatchObject({
      reason_code: "environment-lost",
      reason:
        "Its environment is gone with the daemon that was to start it; run `reeve restart plain` in a shell that has that environment.",
    });
    expect(await home.run(["restart", "plain"], { environment: { MINE: "brought again" } })).toMatchObject({
      status: 0,
    });
    expect(await seen(home)).toContain("MINE=brought again");
  }),
);

test.concurrent.each(["create-delayed.before-commit", "create-delayed.after-commit"])(
  "killed at %s: the next daemon goes on trying",
  { timeout: 90_000 },
  (point) =>
    inHome("", async (home) => {
      const tmux = breakableTmux(home);
      tmux.break();
      const environment = { PATH: tmux.path };
      expect(await home.run(["daemon", "start"], { environment })).toMatchObject({ status: 0 });
      home.failAt(point);
      await start(home, environment);
      await eventually("the daemon is killed", () => !home.isFailpointArmed());
      await home.run(["daemon", "start"], { environment });
      await eventually("it fails again", async () => (await askSession(home, "late"))?.reason.includes("no more ptys"));
      tmux.mend();
      await eventually("it runs", async () => (await askSession(home, "late"))?.state === "running");
      const running = (await home.events()).filter((event) => event.type === "session-running");
      expect(running.map((event) => event.data["incarnation"])).toEqual([1]);
      expect(new Set(home.marked().map((found) => found.incarnation))).toEqual(new Set([1]));
    }),
);
