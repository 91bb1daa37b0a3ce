/** A session of which everything is kept, and one of which nothing more is than before. */
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, readlinkSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { eventually } from "../support/eventually.ts";
import { inHome } from "../support/in-home.ts";
import { pressInPane } from "../support/pane.ts";
import type { SessionRow, TestHome } from "../support/test-home.ts";

interface Line {
  readonly seq: number;
  readonly kind: string;
  readonly [field: string]: unknown;
}

const directoryOf = (home: TestHome, id: string): string => join(home.dir, "outputs", "agents", "agent", id);

function linesOf(home: TestHome, id: string, name: string): readonly Line[] {
  const path = join(directoryOf(home, id), name);
  if (!existsSync(path)) return [];
  const texts = readFileSync(path, "utf8").split("\n");
  return texts.filter((text) => text !== "").map((text) => JSON.parse(text) as Line);
}

async function start(home: TestHome, ...args: readonly string[]): Promise<string> {
  return (await home.json<{ session_id: string }>("start", "practice", ...args)).session_id;
}

async function reached(home: TestHome, id: string, kind: string, times = 1): Promise<void> {
  await eventually(`${times} ${kind} in session_meta.log`, () => {
    return linesOf(home, id, "session_meta.log").filter((line) => line.kind === kind).length >= times;
  });
}

test.concurrent("what happened is in session_meta.log in order, with who did it", () =>
  inHome("[[approval]]\nname = 'lists'\ntools = ['command']\nallow = ['ls']\n", async (home) => {
    const id = await start(home, "ask rm -r data", "--name", "kept", "--persist-session");
    await home.json("wait", id, "--for", "awaiting-approval");
    expect((await home.run(["deny", id, "--json"])).status).toBe(0);
    await home.json("wait", id);
    await home.json("send", id, "ask ls", "--wait");
    await home.json("send", id, "ask touch x");
    await home.json("wait", id, "--for", "awaiting-approval");
    await pressInPane(home, id, "y", "Enter");
    await reached(home, id, "approval-answered", 3);
    await home.json("wait", id);
    await home.json("send", id, "sleep 600");
    await eventually("it sleeps", async () => (await home.session(id))["turn_open"] === true);
    await home.json("send", id, "sleep 601", "--interrupt");
    await reached(home, id, "interrupted");
    await eventually("it sleeps again", async () => (await home.session(id))["turn_open"] === true);
    await pressInPane(home, id, "Escape");
    await reached(home, id, "interrupted", 2);
    await home.json("send", id, "fail the model is overloaded");
    await reached(home, id, "turn-failed");
    await home.killDaemon();
    await home.json("restart", id);
    await reached(home, id, "restarted");
    await home.json("end", id, "--when", "now", "--grace", "0");
    await reached(home, id, "ended", 2);
    const lines = linesOf(home, id, "session_meta.log");
    expect(lines).toMatchObject([
      { kind: "approval-asked", actor: "agent", turn: 1 },
      { kind: "approval-answered", actor: "operator", decision: "denied", after_ms: expect.any(Number) as number },
      { kind: "approval-asked", actor: "agent", turn: 2 },
      { kind: "approval-answered", actor: "rule:lists", decision: "approved", rule: "lists" },
      { kind: "approval-asked", actor: "agent", turn: 3 },
      { kind: "approval-answered", actor: "terminal", decision: "approved" },
      { kind: "interrupted", actor: "operator", turn: 4 },
      { kind: "interrupted", actor: "terminal", turn: 5 },
      { kind: "turn-failed", actor: "agent", turn: 6, error: expect.stringContaining("overloaded") as string },
      { kind: "ended", actor: "operator" },
      { kind: "restarted", actor: "operator", incarnation: 2 },
      { kind: "ended", actor: "operator" },
    ]);
    const events = (await home.events()).filter((event) => event.session_id === id);
    const logged = await eventually("session.log has all of it", () => {
      const found = linesOf(home, id, "session.log").filter(({ kind }) => kind !== "log");
      return found.length >= events.length ? found : null;
    });
    expect(logged.slice(0, events.length).map(({ seq, kind, data }) => ({ seq, kind, data }))).toEqual(
      events.map(({ seq, type, data }) => ({ seq, kind: type, data })),
    );
    // It follows the record a moment later.
    await eventually("runtime.json tells of both processes", () => {
      const { incarnations } = JSON.parse(readFileSync(join(directoryOf(home, id), "runtime.json"), "utf8")) as {
        incarnations: readonly { readonly arguments: readonly string[]; readonly ended_at: string | null }[];
      };
      const isWhole = incarnations.every((one) => one.arguments.includes("--conversation") && one.ended_at !== null);
      return incarnations.length === 2 && isWhole;
    });
  }));

test.concurrent("where it is switched on, refused, and shown", () =>
  inHome("[sessions]\npersist_session = true\n", async (home) => {
    const refusal = async (...args: readonly string[]): Promise<unknown> => {
      const { status, stdout } = await home.run(["start", "practice", "hello", ...args, "--json"]);
      return [status, (JSON.parse(stdout) as { error?: { code: string } }).error?.code];
    };
    expect(await refusal("--capture", "native")).toEqual([2, "capture-unavailable"]);
    expect(await refusal("--no-persist-session", "--debug-log", "x.log")).toEqual([2, "needs-persist-session"]);
    expect(await refusal("--debug-log", "../x.log")).toEqual([2, "bad-debug-log"]);
    expect(await refusal("--persist-session", "--no-persist-session")).toEqual([2, "bad-value"]);
    expect(await home.list()).toEqual([]);
    const on = await start(home, "hello", "--debug-log", "own.log");
    const debugLog = join(directoryOf(home, on), "own.log");
    expect(await home.session(on)).toMatchObject({ persistence: { capture: "none", debug_log: debugLog } });
    expect((await home.run(["explain", on])).stdout).toMatch(/Kept\n {2}Everything about it is kept in/);
    await home.json("wait", on, "--for", "turn-completed");
    await home.json("restart", on);
    expect(await home.session(on)).toMatchObject({ persistence: { debug_log: debugLog } });
    const off = await start(home, "hello", "--no-persist-session");
    expect(await home.session(off)).toMatchObject({ persistence: null });
    writeFileSync(
      join(home.dir, "reeve.toml"),
      '[defaults]\nagent = "practice"\nbranch = "main"\nallow_shared_checkout = true\npersist_session = false\n[[sessions]]\nid = "one"\n[[sessions]]\nid = "two"\npersist_session = true\ndebug_log = "d.log"\n',
    );
    execFileSync("git", ["-C", home.dir, "init", "-q", "-b", "main"]);
    const up = await home.run(["up", "--json"], { cwd: home.dir });
    expect([up.status, up.stdout]).toEqual([0, expect.any(String)]);
    expect(await home.session("one")).toMatchObject({ persistence: null });
    expect(await home.session("two")).toMatchObject({ persistence: { capture: "none" } });
  }));

/** What a process has, with whatever belongs to its session in the place of names. */
function processOf(id: string, pid: number): unknown {
  const incarnation = new RegExp(id, "g");
  const plain = (text: string): string =>
    text
      .replaceAll(incarnation, "SESSION")
      .replaceAll(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, "UUID")
      .replace(/^REEVE_PASS=.*/, "REEVE_PASS")
      .replace(/^(TMUX|TMUX_PANE)=.*/, "$1");
  const read = (name: string): readonly string[] =>
    readFileSync(`/proc/${pid}/${name}`, "utf8")
      .split("\0")
      .map(plain)
      .filter((one) => one !== "");
  const descriptors = readdirSync(`/proc/${pid}/fd`).flatMap((fd) => {
    try {
      return [plain(readlinkSync(`/proc/${pid}/fd/${fd}`)).replaceAll(/\d+/g, "N")];
    } catch {
      return [];
    }
  });
  return { environment: read("environ").toSorted(), arguments: read("cmdline"), open: descriptors.toSorted() };
}

/** Of a session that is kept, and has not done anything for which there is another file. */
const KEPT = ["runtime.json", "session.log", "terminal.cast"];

test.concurrent("off: its process, and its directory, are as they are without it; on: only the documented files are new", () =>
  inHome("", async (home) => {
    const rows: SessionRow[] = [];
    for (const more of [["--no-persist-session"], [], ["--persist-session"]]) {
      const id = await start(home, "hello", "--name", nameOf(rows.length), ...more);
      await home.json("wait", id, "--for", "turn-completed");
      rows.push(await home.session(id));
    }
    const [, off, on] = rows;
    await eventually("what is kept is there", () =>
      KEPT.every((name) => existsSync(join(directoryOf(home, on?.session_id ?? ""), name))),
    );
    const processes = rows.map(({ session_id: id }) => home.marked(id).map(({ pid }) => processOf(id, pid)));
    expect(processes[0]?.length).toBeGreaterThan(0);
    expect(named(processes[1], 1)).toEqual(named(processes[0], 0));
    expect(named(processes[2], 2)).toEqual(named(processes[0], 0));
    const listed = (row: SessionRow | undefined): readonly string[] =>
      readdirSync(directoryOf(home, row?.session_id ?? "")).toSorted();
    const [without, kept] = await eventually("both are listed while no state is being written", () => {
      const both = [listed(off), listed(on)];
      return both.some((names) => names.includes(".state.json.tmp")) ? false : both;
    });
    const expected = ["output.log", "spool", "state.json", "transcript.jsonl"];
    expect(without).toEqual(expected);
    expect(kept?.filter((name) => !expected.includes(name))).toEqual(KEPT);
    for (const name of KEPT)
      expect(statSync(join(directoryOf(home, on?.session_id ?? ""), name)).mode & 0o777).toBe(0o600);
  }));

/** So long that no directory of a test, whose name is random, has it in its path. */
function nameOf(index: number): string {
  return `compared-with-the-others-${index}`;
}

/** Names of the windows differ, as the sessions' do. */
function named(processes: unknown, index: number): unknown {
  return JSON.parse(JSON.stringify(processes).replaceAll(nameOf(index), "NAME"));
}

test.concurrent("it is pruned with its directory once it was exported", () =>
  inHome("", async (home) => {
    mkdirSync(join(home.dir, "work"));
    const id = await start(home, "hello", "--persist-session", "--cwd", join(home.dir, "work"));
    await home.json("wait", id, "--for", "turn-completed");
    await home.json("end", id, "--when", "now", "--grace", "0");
    await eventually("its end is kept", () =>
      linesOf(home, id, "session_meta.log").some(({ kind }) => kind === "ended"),
    );
    const prune = async (): Promise<number | null> =>
      (await home.run(["prune", "--older-than", "0s", "--json"])).status;
    // What nobody has taken away yet stays.
    expect(await prune()).toBe(0);
    expect(existsSync(directoryOf(home, id))).toBe(true);
    await home.json("export", id, "--output", join(home.dir, "work", "kept.tar.gz"));
    expect(await prune()).toBe(0);
    await eventually("it is gone", () => !existsSync(directoryOf(home, id)));
  }));
