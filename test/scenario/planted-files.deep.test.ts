/**
 * A directory, a pipe, a link or anything else in the place of a
 * file of Reeve's, put there while no daemon runs or under one that does. The
 * next command works, no session is lost, and it is said what was moved.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { eventually } from "../support/eventually.ts";
import { inHome } from "../support/in-home.ts";
import { plant, plantable } from "../support/plant.ts";
import type { TestHome } from "../support/test-home.ts";
import { runProgram } from "../support/test-home.ts";

/** Many homes, one after the other. */
vi.setConfig({ testTimeout: 120_000 });

const IN_HOME = [
  "reeve.db-shm",
  "reeve.db.open",
  "reeve.db-reserve",
  "search.db",
  "search.db-wal",
  "search.db-shm",
  "instance",
  "daemon.lock",
  "daemon.log",
  "daemon.log.1",
  "daemon.json",
  "daemon.stderr",
  "run/start.lock",
  "run/pane.sh",
  "run/tmux.conf",
  "run/tmux-server.json",
  "run/reeve.sock",
  "run/call.sock",
  "run/spare-1",
];

const start = async (home: TestHome, name: string, ...command: readonly string[]): Promise<void> => {
  await home.json("start", "command", "--name", name, "--", ...command);
  await eventually("it runs", async () => (await home.session(name)).state === "running");
};

test.concurrent.each([...plantable])("a %s in the place of every file of a home at once", (kind) =>
  inHome("", async (home) => {
    await start(home, "one", "sleep", "600");
    await start(home, "two", "sleep", "600");
    const before = (await home.list()).map(({ name, runtime }) => [name, runtime.pid]);
    await home.killDaemon();
    for (const name of IN_HOME) plant(join(home.dir, name), kind);
    expect((await home.list()).map(({ name, runtime }) => [name, runtime.pid])).toEqual(before);
    const aside = [...readdirSync(home.dir), ...readdirSync(join(home.dir, "run"))].filter((name) =>
      /\.(?:set-aside|corrupt)-/.test(name),
    );
    expect(aside).toContainEqual(expect.stringMatching(/^daemon\.lock\./));
    expect(aside).toContainEqual(expect.stringMatching(/^instance\./));
    const { warnings } = await home.json<{ warnings: readonly string[] }>("daemon", "status");
    expect(warnings).toContainEqual(
      expect.stringMatching(/daemon\.lock was not a plain file of yours and was moved to .*set-aside-1\. Look at it/),
    );
    // A new pane, and a new server: both need files of the run directory.
    await start(home, "three", "sleep", "600");
    await home.json("end", "--all", "--when", "now", "--grace", "0");
    await runProgram("tmux", ["-S", home.tmuxSocket, "kill-server"], home.environment);
    plant(join(home.dir, "run", "tmux.conf"), kind);
    plant(join(home.dir, "run", "tmux.sock"), kind);
    await start(home, "four", "sleep", "600");
    expect((await home.json<{ session: { state: string } }>("end", "four")).session.state).toBe("stopped");
  }),
);

test.concurrent.each([...plantable])("a %s in the place of the database or its -wal", (kind) =>
  inHome("", async (home) => {
    await start(home, "one", "sleep", "600");
    const { runtime, ...one } = await home.session("one");
    const stateFile = join(String(one["outputs_dir"]), "state.json");
    await eventually("its state.json is current", () => {
      if (!existsSync(stateFile)) return false;
      const { revision } = JSON.parse(readFileSync(stateFile, "utf8")) as { revision: number };
      return revision === one["revision"];
    });
    for (const name of ["reeve.db-wal", "reeve.db"]) {
      await home.killDaemon();
      plant(join(home.dir, name), kind);
      expect(await home.session("one")).toMatchObject({ state: "running", runtime });
    }
    expect((await home.json<{ session: { state: string } }>("end", "one")).session.state).toBe("stopped");
  }),
);

test.concurrent.each([...plantable])("a %s for config.toml and rules: said so, and nothing hangs", (kind) =>
  inHome("", async (home) => {
    await start(home, "one", "sleep", "600");
    await home.killDaemon();
    plant(join(home.dir, "config.toml"), kind);
    plant(join(home.dir, "rules", "command.toml"), kind);
    expect((await home.session("one")).state).toBe("running");
    const { warnings } = await home.json<{ warnings: readonly string[] }>("daemon", "status");
    // A link to nowhere is a file that is not there; one to a text is read as settings.
    if (kind !== "dangling link") expect(warnings).toContainEqual(expect.stringContaining("config.toml"));
    await home.json("end", "one");
    expect(existsSync(join(home.dir, "config.toml")) || kind === "dangling link").toBe(true);
  }),
);

test.concurrent("what is planted in a session's directory costs neither records, nor output, nor its end", () =>
  inHome("[sessions]\noutput_log_bytes = 20000\n", async (home) => {
    await home.json("start", "practice", "--name", "practice", "Say hello");
    await home.json("wait", "practice", "--for", "turn-completed", "--since", "0", "--timeout", "30");
    const directory = String((await home.session("practice"))["outputs_dir"]);
    const spool = join(directory, "spool");
    for (const [index, kind] of plantable.entries()) {
      plant(join(spool, `0000-planted-${index}.json`), kind);
      plant(join(spool, `zzzz-planted-${index}.json`), kind);
    }
    writeFileSync(join(spool, "0000-secret.json"), "{}", { mode: 0o000 });
    await home.json("send", "practice", "Say hello again");
    await eventually("its records are read", async () => (await home.session("practice"))["turns"] === 2);
    await eventually("none of it is taken for a record again", () =>
      readdirSync(spool).every((name) => !name.endsWith(".json")),
    );

    const output = join(directory, "output.log");
    for (const kind of plantable) {
      if (existsSync(output)) renameSync(output, `${output}.kept-${kind.replaceAll(" ", "-")}`);
      plant(output, kind);
      plant(`${output}.1`, kind);
      await home.json("send", "practice", `Say hello to a ${kind} ${"and to everybody else ".repeat(20)}`);
      await eventually(`output is recorded after a ${kind}`, () => existsSync(output) && isPlain(output));
    }
    plant(join(directory, "screen.txt"), "pipe");
    plant(join(directory, "state.json"), "pipe");
    plant(join(directory, ".state.json.tmp"), "full directory");
    expect((await home.json<{ session: { state: string } }>("end", "practice", "--when", "now")).session.state).toBe(
      "stopped",
    );
    const data = await home.json<{ text: string }>("data", "practice", "--source", "screen");
    expect(data.text).toContain("hello");
    await eventually("its state.json is written", () => isPlain(join(directory, "state.json")));
  }));

test.concurrent("a spool that is no directory is set aside, and hooks are read from a new one", () =>
  inHome("", async (home) => {
    await home.json("start", "practice", "--name", "practice", "Say hello");
    await home.json("wait", "practice", "--for", "turn-completed", "--since", "0", "--timeout", "30");
    const directory = String((await home.session("practice"))["outputs_dir"]);
    await home.killDaemon();
    renameSync(join(directory, "spool"), join(directory, "moved"));
    const elsewhere = join(home.dir, "elsewhere");
    mkdirSync(elsewhere);
    writeFileSync(join(elsewhere, "0.json"), "{}");
    plant(join(directory, "spool"), "link");
    await home.list();
    await eventually("there is a directory again", () => readdirSync(directory).includes("spool.set-aside-1"));
    await home.json("send", "practice", "Say hello again");
    await eventually("its records are read", async () => (await home.session("practice"))["turns"] === 2);
    expect(readdirSync(elsewhere)).toEqual(["0.json"]);
  }));

function isPlain(path: string): boolean {
  try {
    return readdirSync(join(path, ".."), { withFileTypes: true }).some(
      (entry) => entry.isFile() && join(path, "..", entry.name) === path,
    );
  } catch {
    return false;
  }
}
