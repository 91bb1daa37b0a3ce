import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createClient } from "./create-client.ts";
import type { Client, ClientOptions } from "./create-client.ts";
import { forgetAllocator } from "../platform/allocator.ts";
import { daemonEnvironment } from "./start-daemon.ts";

let home: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "reeve-"));
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

/** A daemon of a few lines: it notes that it ran, does what it is told, and ends by itself. */
function clientOf(body: string, options: ClientOptions = {}): Client {
  const program = join(home, "daemon.mjs");
  writeFileSync(
    program,
    `import { appendFileSync, mkdirSync, writeSync } from "node:fs"; import { createServer } from "node:http";
     const home = process.env.REEVE_HOME; appendFileSync(home + "/runs", JSON.stringify({ cwd: process.cwd(), mark: process.env.REEVE_MARK ?? null }) + "\\n");
     const say = (line) => writeSync(3, line + "\\n");
     const serve = (done) => createServer((_, response) => response.end('{"pid":' + process.pid + "}")).listen(home + "/run/reeve.sock", done);
     setTimeout(() => process.exit(0), 3000);
     ${body}`,
  );
  return createClient(
    { home, enduranceMs: 30_000, ...options },
    { daemonCommand: () => [process.execPath, program], environment: { ...process.env, REEVE_MARK: "m" } },
  );
}

const runs = (): unknown[] =>
  readFileSync(join(home, "runs"), "utf8")
    .trim()
    .split("\n")
    .map((line): unknown => JSON.parse(line));

describe("a missing daemon", () => {
  it("is started apart from its caller, then asked", async () => {
    await expect(clientOf(`serve(() => say("ready"));`).daemonStatus()).resolves.toMatchObject({
      pid: expect.any(Number),
    });
    expect(runs()).toEqual([{ cwd: "/", mark: null }]);
  });

  it("is started once by many who ask at the same time", async () => {
    const client = clientOf(`setTimeout(() => serve(() => say("ready")), 200);`);
    const answers = await Promise.all(Array.from({ length: 20 }, () => client.daemonStatus()));
    expect(new Set(answers.map((answer) => answer.pid)).size).toBe(1);
    expect(runs()).toHaveLength(1);
  });

  it("is waited for when another one holds the home", async () => {
    const client = clientOf(`say("busy"); setTimeout(() => serve(() => undefined), 100);`);
    await expect(client.daemonStatus()).resolves.toMatchObject({ pid: expect.any(Number) });
  });

  it("says why it could not start, in its own words", async () => {
    const client = clientOf(
      `say(JSON.stringify({ code: "config-invalid", kind: "config", message: "Mend it." })); process.exit(78);`,
    );
    await expect(client.daemonStatus()).rejects.toMatchObject({
      code: "config-invalid",
      message: "Mend it.",
      exitStatus: 78,
    });
  });

  it("that is killed in the middle of its start is started again", async () => {
    const client = clientOf(
      `import { readFileSync } from "node:fs";
       if (readFileSync(home + "/runs", "utf8").split("\\n").length < 4) process.kill(process.pid, "SIGKILL");
       serve(() => say("ready"));`,
    );
    await expect(client.daemonStatus()).resolves.toMatchObject({ pid: expect.any(Number) });
    expect(runs()).toHaveLength(3);
  });

  it("that ends without a word is reported", async () => {
    await expect(clientOf("process.exit(3);", { enduranceMs: 200 }).daemonStatus()).rejects.toMatchObject({
      code: "daemon-not-started",
      message: expect.stringContaining("reeve daemon run"),
    });
  });

  it("that was stopped on purpose is started by nobody who only watches; one that crashed is", async () => {
    const watcher = clientOf(`serve(() => say("ready"));`, { autostart: "after-crash" });
    await expect(watcher.daemonStatus()).rejects.toMatchObject({ code: "daemon-not-running" });
    expect(existsSync(join(home, "runs"))).toBe(false);
    // Whoever is killed leaves the socket behind.
    mkdirSync(join(home, "run"), { mode: 0o700 });
    const listen = "require('net').createServer().listen('reeve.sock', () => process.kill(process.pid, 'SIGKILL'))";
    spawnSync(process.execPath, ["-e", listen], { cwd: join(home, "run") });
    const crashed = clientOf(
      `import { rmSync } from "node:fs"; rmSync(home + "/run/reeve.sock"); serve(() => say("ready"));`,
      {
        autostart: "after-crash",
      },
    );
    await expect(crashed.daemonStatus()).resolves.toMatchObject({ pid: expect.any(Number) });
  });

  it("is not started in a directory that others can reach", async () => {
    mkdirSync(join(home, "run"), { mode: 0o755 });
    await expect(clientOf(`serve(() => say("ready"));`).daemonStatus()).rejects.toMatchObject({
      code: "home-not-private",
    });
  });
});

describe("daemonEnvironment", () => {
  it("drops what belongs to a session and keeps the rest", () => {
    const environment = {
      PATH: "/bin",
      REEVE_HOME: "/h",
      REEVE_FAILPOINT_FILE: "/f",
      REEVE_MARK: "m",
      REEVE_SESSION_ID: "s",
      TMUX: "t",
      TMUX_PANE: "%1",
      GONE: undefined,
    };
    const kept = { PATH: "/bin", REEVE_HOME: "/h", REEVE_FAILPOINT_FILE: "/f" };
    const memory = { MALLOC_ARENA_MAX: "1", MALLOC_TRIM_THRESHOLD_: "131072" };
    expect(daemonEnvironment(environment)).toEqual({ ...kept, ...memory });
  });

  it("leaves memory as the user wants it, and hands nothing of it on", () => {
    const given = { PATH: "/bin", MALLOC_ARENA_MAX: "4" };
    const environment = daemonEnvironment(given);
    expect(environment).toEqual({ ...given, MALLOC_TRIM_THRESHOLD_: "131072" });
    forgetAllocator(environment);
    expect(environment).toEqual(given);
  });
});
