/** An agent can write a state.json; none of them decides what runs. */
import { createHash } from "node:crypto";
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { eventually } from "../support/eventually.ts";
import { inHome } from "../support/in-home.ts";
import type { TestHome } from "../support/test-home.ts";
import { runProgram } from "../support/test-home.ts";
import { amend, type Amendment } from "../../src/session/amend.ts";
import type { Launch, Session } from "../../src/session/session.ts";

/** The state.json of a session, as an agent would forge it from a real one: other words, a right checksum. */
function forge(from: string, to: string, changes: Amendment): void {
  const { session, seq } = JSON.parse(readFileSync(from, "utf8")) as { session: Session; seq: number };
  const forged = amend(session, changes);
  const head = JSON.stringify({ format: 2, seq, revision: forged.revision, session: forged }).slice(0, -1);
  mkdirSync(dirname(to), { recursive: true, mode: 0o700 });
  writeFileSync(to, `${head},"checksum":"${createHash("sha256").update(head).digest("hex")}"}\n`);
}

async function stateFile(home: TestHome, name: string): Promise<string> {
  const session = await home.session(name);
  const path = join(String(session["outputs_dir"]), "state.json");
  await eventually("its state.json is current", () => {
    if (!existsSync(path)) return false;
    const { revision } = JSON.parse(readFileSync(path, "utf8")) as { revision: number };
    return revision === session["revision"];
  });
  return path;
}

const start = async (home: TestHome, name: string, ...args: readonly string[]): Promise<void> => {
  await home.json("start", "command", "--name", name, ...args);
  await eventually("it runs", async () => (await home.session(name)).state === "running");
};

/** Boots a daemon and waits until it has compared every file. */
async function restartDaemon(home: TestHome): Promise<void> {
  await home.killDaemon();
  await home.list();
}

async function quarantined(home: TestHome): Promise<readonly string[]> {
  return (await home.events())
    .filter((event) => event.type === "state-file-quarantined")
    .map((event) => String(event.data["path"]));
}

function proofOf(home: TestHome): { readonly path: string; readonly launch: (launch: Launch) => Launch } {
  const path = join(home.dir, "it-ran");
  return { path, launch: (launch) => ({ ...launch, args: ["sh", "-c", `echo > ${path}; sleep 300`] }) };
}

const launchOf = (path: string): Launch =>
  (JSON.parse(readFileSync(path, "utf8")) as { session: Session }).session.identity.launch;

test.concurrent("a planted file is set aside and told of, however often the daemon starts", () =>
  inHome("", async (home) => {
    await start(home, "real", "--", "sleep", "300");
    const real = await stateFile(home, "real");
    const proof = proofOf(home);
    const planted = join(dirname(dirname(real)), "00000000-planted", "state.json");
    forge(real, planted, {
      id: "00000000-planted",
      state: "starting",
      identity: { name: "planted", outputsDir: dirname(planted), launch: proof.launch(launchOf(real)) },
      process: { place: null },
    });
    for (const time of [1, 2, 3]) {
      await restartDaemon(home);
      await eventually("it is set aside", async () => (await quarantined(home)).length === 1);
      expect([time, (await home.list()).map(({ name }) => name)]).toEqual([time, ["real"]]);
    }
    expect(existsSync(proof.path)).toBe(false);
    expect(readdirSync(dirname(planted))).toEqual([expect.stringMatching(/^state\.json\.unknown-\d+$/)]);
    const says = expect.stringMatching(
      /state\.json\.unknown-\d+ describes a session that Reeve does not know\. It was not started/,
    );
    const warnings = async (): Promise<readonly string[]> =>
      (await home.json<{ warnings: readonly string[] }>("daemon", "status")).warnings;
    await eventually("the files are compared", async () => (await warnings()).length > 0);
    expect(await warnings()).toContainEqual(says);
    const doctor = await home.run(["doctor", "--json"]);
    expect((JSON.parse(doctor.stdout) as { checks: readonly object[] }).checks).toContainEqual(
      expect.objectContaining({ what: "daemon", status: "warning", detail: says }),
    );
  }));

test.concurrent("a file with a higher revision changes nothing about a known session", () =>
  inHome("", async (home) => {
    await start(home, "real", "--restart", "on-failure", "--", "sleep", "300");
    const path = await stateFile(home, "real");
    const { session } = JSON.parse(readFileSync(path, "utf8")) as { session: Session };
    const proof = proofOf(home);
    const before = await home.session("real");
    const forgeries: readonly Amendment[] = [
      {
        revision: session.revision + 100,
        identity: { name: "forged" },
        wish: { desired: "stopped", stop: { next: "stopped", graceMs: 0, afterTurn: false, by: null, timedOut: null } },
      },
      {
        revision: session.revision + 200,
        state: "starting",
        identity: { launch: proof.launch(session.identity.launch) },
        process: { incarnation: 2, place: null },
      },
    ];
    for (const [index, changes] of forgeries.entries()) {
      // A daemon that runs would write over it with whatever it notices next.
      await home.killDaemon();
      forge(path, path, changes);
      await eventually("it is set aside", async () => (await quarantined(home)).length === index + 1);
      await restartDaemon(home);
      expect(await home.session("real")).toMatchObject({
        state: "running",
        desired: "running",
        restarts: 0,
        runtime: before.runtime,
      });
      await stateFile(home, "real");
    }
    expect(existsSync(proof.path)).toBe(false);
  }));

test.concurrent("after the database is lost, what lives is adopted and what does not is held", () =>
  inHome("", async (home) => {
    await start(home, "lives", "--restart", "on-failure", "--", "sleep", "300");
    await start(home, "died", "--restart", "always", "--", "sleep", "300");
    const [lives, died] = [await home.session("lives"), await home.session("died")];
    const files = [await stateFile(home, "lives"), await stateFile(home, "died")];
    const kept = join(home.dir, "kept");
    cpSync(String(died["outputs_dir"]), kept, { recursive: true });
    const proof = proofOf(home);
    await home.killDaemon();
    await runProgram("tmux", ["-S", home.tmuxSocket, "kill-session", "-t", died.session_id], home.environment);
    for (const suffix of ["", "-wal", "-shm"]) rmSync(join(home.dir, `reeve.db${suffix}`), { force: true });
    // Worse still: with the database gone, a file that would run something else.
    forge(files[1] ?? "", files[1] ?? "", {
      state: "starting",
      identity: { launch: proof.launch(launchOf(files[1] ?? "")) },
      process: { place: null },
    });

    for (const time of ["first", "second"]) {
      expect([time, (await home.session("lives")).runtime.pid]).toEqual([time, lives.runtime.pid]);
      await eventually("it is held", async () => (await home.session("died")).state === "error");
      const held = await home.session("died");
      expect(held["reason"]).toMatch(
        /its record came from state\.json after the database was lost; start it with: reeve restart died$/,
      );
      expect([held["not_started_because"], held["restarts"]]).toEqual([expect.stringContaining("state.json"), 0]);
      await restartDaemon(home);
    }
    expect([existsSync(proof.path), home.marked(died.session_id)]).toEqual([false, []]);

    process.kill(lives.runtime.pid ?? 0, "SIGKILL");
    await eventually("its end is told", async () => (await home.session("lives")).state === "error");
    expect((await home.session("lives"))["reason"]).toContain("start it with: reeve restart lives");
    await home.json("restart", "lives");
    expect(await home.session("lives")).toMatchObject({ not_started_because: null, restarts: 1 });
    await eventually("it runs again", async () => (await home.session("lives")).state === "running");
    expect((await home.json<{ session: { state: string } }>("end", "died")).session.state).toBe("stopped");
  }));
