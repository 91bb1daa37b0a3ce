/** A manifest carried out: `plan`, `up`, `down`, `resume-all`, with a real daemon and real sessions. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { expectEventLogComplete } from "../crash/crashing.ts";
import { eventually } from "../support/eventually.ts";
import { filesHolding } from "../support/files-holding.ts";
import { createGitRepository, type GitRepository } from "../support/git-repository.ts";
import { createTestHome, type Result, runProgram, type SessionRow, type TestHome } from "../support/test-home.ts";

let home: TestHome;
let repository: GitRepository;
let directory: string;
beforeAll(() => {
  home = createTestHome();
  repository = createGitRepository();
});
afterAll(async () => {
  await home.dispose();
  repository.dispose();
});
/** Each test has a project of its own; one with a blank in its name, which must not matter. */
let count = 0;
beforeEach(() => {
  directory = join(repository.root, `project ${++count}`);
  mkdirSync(directory);
});

const command = (id: string, more = ""): string =>
  `[[sessions]]\nid = "${id}"\nagent = "command"\ncommand = ["sleep", "600"]\nbranch = "main"\nallow_shared_checkout = true\n${more}\n`;
const practice = (id: string, prompt: string, more = ""): string =>
  `[[sessions]]\nid = "${id}"\nagent = "practice"\nprompt = "${prompt}"\nbranch = "main"\nallow_shared_checkout = true\n${more}\n`;

const write = (...parts: readonly string[]): void => writeFileSync(join(directory, "reeve.toml"), parts.join("\n"));
const reeve = (...args: readonly string[]): Promise<Result> => home.run(args, { cwd: directory });
const reeveJson = async <T>(...args: readonly string[]): Promise<T> =>
  JSON.parse((await reeve(...args, "--json")).stdout) as T;

interface Up {
  readonly done: boolean;
  readonly results: readonly { readonly id: string; readonly action: string; readonly session_id: string }[];
}

const up = async (...args: readonly string[]): Promise<readonly string[]> =>
  (await reeveJson<Up>("up", ...args)).results.map(({ id, action }) => `${action} ${id}`);

/** Those of this project's manifest that were not ended: name, id and process. */
async function living(): Promise<readonly SessionRow[]> {
  return (await reeveJson<{ sessions: SessionRow[] }>("list", "--manifest")).sessions;
}
const idsOf = (sessions: readonly SessionRow[]): Record<string, string> =>
  Object.fromEntries(sessions.map(({ name, session_id: id }) => [name, id]));

describe("what a manifest says", () => {
  test("up twice changes nothing, and an edited prompt changes only its session", async () => {
    write(command("m-dev"), practice("m-one", "say one"), practice("m-two", "say two"));
    const dry = await reeve("plan");
    expect([dry.status, await living()]).toEqual([2, []]);
    expect(await up()).toEqual(["start m-dev", "start m-one", "start m-two"]);
    const first = idsOf(await living());
    expect(Object.keys(first).toSorted()).toEqual(["m-dev", "m-one", "m-two"]);
    expect(await up()).toEqual(["keep m-dev", "keep m-one", "keep m-two"]);

    write(command("m-dev"), practice("m-one", "say more"), practice("m-two", "say two"));
    const different = await reeve("plan");
    expect(different.status).toBe(2);
    expect(different.stdout).toContain("Changed: prompt.");
    expect(await up()).toEqual(["keep m-dev", "replace m-one", "keep m-two"]);
    const second = idsOf(await living());
    expect(second).toEqual({ ...first, "m-one": expect.any(String) });
    expect(second["m-one"]).not.toBe(first["m-one"]);

    // Renamed by hand it is still the manifest's; ended by hand it is brought back.
    await home.json("rename", "m-two", "m-renamed");
    await home.json("end", "m-dev", "--when", "now");
    // One that is not in the file any more goes on until somebody prunes.
    write(command("m-dev"), practice("m-one", "say more"));
    const left = await reeve("up");
    expect([left.stdout, left.stderr]).toEqual([
      expect.stringContaining("Started m-dev."),
      expect.stringContaining("m-two is no longer in reeve.toml and still runs; reeve up --prune ends it."),
    ]);
    expect(idsOf(await living())["m-renamed"]).toBe(first["m-two"]);
    expect(await up("--prune", "--when", "now")).toEqual(["keep m-dev", "keep m-one", "remove m-two"]);
    expect(Object.keys(idsOf(await living())).toSorted()).toEqual(["m-dev", "m-one"]);

    // In reverse order, without the file being read.
    write("broken =");
    const since = (await home.events()).length;
    expect((await reeve("down", "--when", "now")).status).toBe(0);
    const ended = (await home.events()).slice(since).filter(({ type }) => type === "session-exited");
    const names = new Map((await home.list()).map(({ session_id: id, name }) => [id, name]));
    expect(ended.map(({ session_id: id }) => names.get(id ?? ""))).toEqual(["m-one", "m-dev"]);
    expect(await living()).toEqual([]);
  });

  test("a worktree is used again by the session that replaces another", async () => {
    const session = (prompt: string): string =>
      `[[sessions]]\nid = "w"\nagent = "practice"\nprompt = "${prompt}"\nbranch = "work/w"\nworktree = true\nbase = "main"\n`;
    write(session("say one"));
    expect(await up()).toEqual(["start w"]);
    const [before] = await living();
    write(session("say two"));
    expect(await up("--when", "now")).toEqual(["replace w"]);
    const [after] = await living();
    expect(after?.["worktree"]).toBe(before?.["worktree"]);
    expect(after?.["branch"]).toMatchObject({ declared: "work/w", actual: "work/w" });
    expect((await reeve("down", "--when", "now")).status).toBe(0);
  });

  test("keys come from files, and reach no other", async () => {
    mkdirSync(join(directory, "keys"));
    writeFileSync(join(directory, "keys/one"), "first-value\n", { mode: 0o600 });
    writeFileSync(join(directory, "vars"), "FROM_FILE=of-the-file\n", { mode: 0o600 });
    const print = `command = ["sh", "-c", "echo $SHOP_KEY $FROM_FILE | tee out; sleep 600"]`;
    write(
      command("k", `env_file = "vars"\nkey_file = { SHOP_KEY = "keys/one" }\ntags = ["shop"]\ncontact = "ada"`).replace(
        /command = \[.*\]/,
        print,
      ),
    );
    await up();
    const out = join(directory, "out");
    await eventually("it has both", () => read(out) === "first-value of-the-file\n");
    expect((await living())[0]?.["manifest"]).toMatchObject({ id: "k", tags: ["shop"], contact: "ada" });
    expect((await reeve("down", "--when", "now")).status).toBe(0);
    // Also of its last screen, which is kept.
    expect(filesHolding(home.dir, ["first-value", "of-the-file"])).toEqual([]);
  });
});

describe("after a crash", () => {
  const all = ["c-1", "c-2", "c-3", "c-4", "c-5"];

  test("the daemon and up are killed in the middle; then two ups at once, and the daemon is killed again", async () => {
    write(...all.map((id) => command(id)));
    const before = await home.daemonPid();
    home.failAt("start.after-commit");
    const first = spawn(join(import.meta.dirname, "../../bin/reeve"), ["up"], {
      cwd: directory,
      env: home.environment,
      stdio: "ignore",
    });
    const closed = once(first, "close");
    await eventually("the daemon dies", () => !home.isFailpointArmed());
    first.kill("SIGKILL");
    await closed;
    expect(await home.daemonPid()).not.toBe(before);
    const some = await living();
    expect(some.length).toBeGreaterThan(0);

    // These live through it: each start has a key, and is asked for again.
    home.failAt("created.before-commit");
    const ups = await Promise.all([reeve("up"), reeve("up")]);
    expect(ups.map(({ status, stderr }) => [status, stderr])).toEqual([
      [0, ""],
      [0, ""],
    ]);
    const made = (await home.list()).filter(({ name }) => all.includes(name));
    expect(made.map(({ name }) => name).toSorted()).toEqual(all);
    expect(made.map(({ session_id: id }) => id)).toEqual(expect.arrayContaining(some.map(({ session_id: id }) => id)));
    expect(await up()).toEqual(all.map((id) => `keep ${id}`));
    for (const { session_id: id } of made)
      expect(new Set(home.marked(id).map(({ incarnation }) => incarnation)).size).toBe(1);
    await expectEventLogComplete(home);
    await home.json("end", "--all", "--when", "now");
  });

  test("resume-all brings back what should run after the tmux server and the daemon were killed", async () => {
    write(command("r-1"), command("r-2"), command("r-done").replace('"sleep", "600"', '"true"'));
    await up();
    await home.json("start", "command", "--name", "r-own", "--", "sleep", "600");
    await eventually("it has finished", async () => (await home.session("r-done")).state === "stopped");
    await home.killDaemon();
    await runProgram("tmux", ["-S", home.tmuxSocket, "kill-server"], home.environment);
    await eventually(
      "all are gone",
      async () =>
        (await home.list()).filter(({ name, liveness }) => /^r-[12o]/.test(name) && liveness === "running").length ===
        0,
    );
    const only = await reeveJson<{ results: { session: { name: string } }[] }>("resume-all", "-f", "reeve.toml");
    expect(only.results.map(({ session }) => session.name).toSorted()).toEqual(["r-1", "r-2"]);
    expect((await home.session("r-own")).liveness).not.toBe("running");
    const rest = await reeve("resume-all");
    expect([rest.status, rest.stdout]).toEqual([0, expect.stringContaining("Brought back r-own.")]);
    const live = (await home.list()).filter(({ liveness }) => liveness === "running").map(({ name }) => name);
    expect(live).toEqual(expect.arrayContaining(["r-1", "r-2", "r-own"]));
    expect((await reeve("resume-all")).stderr).toContain("Nothing to bring back");
    await home.json("end", "--all", "--when", "now");
  });
});

describe("mistakes", () => {
  test("every kind of mistake is told in one run, each with line and column, and nothing starts", async () => {
    const other = join(repository.root, "other.toml");
    writeFileSync(other, command("e-claimed"));
    expect((await home.run(["up", "-f", other])).status).toBe(0);
    await home.json("start", "command", "--name", "e-named", "--", "sleep", "600");
    writeFileSync(join(directory, "open"), "A=1\n");
    chmodSync(join(directory, "open"), 0o644);
    const lines = [
      '[[sessions]] # 1\nid = "e-claimed"\nagent = "command"\ncommand = ["sleep", "1"]\nbranch = "main"\nallow_shared_checkout = true',
      '[[sessions]] # 7\nid = "e-named"\nagent = "command"\ncommand = ["no-such-program"]\nbranch = "main"\nallow_shared_checkout = true',
      '[[sessions]] # 13\nid = "e-files"\nagent = "codexx"\nbranch = "main"\nenv_file = "open"\nkey_file = { KEY = "missing" }',
      '[[sessions]] # 19\nid = "e-where"\nagent = "practice"\nbranch = "main"\nworkspace = "no such directory"',
      '[[sessions]] # 24\nid = "e-branch"\nagent = "practice"\nbranch = "mian"\nallow_shared_checkout = true',
      '[[sessions]] # 29\nid = "e-branch"\nagent = "practise"\nmodel = "ghp_0123456789abcdefghijklmnopqrstuvwxyz"\nrestrat = "always"\ntimeouts = { turn = "long" }',
      '[[sessions]] # 35\nid = "e-tree"\nagent = "practice"\nbranch = "main"\nworktree = true',
      '[[sessions]] # 40\nid = "e-tree-2"\nagent = "practice"\nbranch = "new"\nworktree = true\nbase = "nowhere"',
      '[[sessions]] # 46\nid = "e-runtime"\nagent = "practice"\nbranch = "main"\nruntime = "cloud"',
      '[[sessions]] # 51\nid = "e-share"\nagent = "practice"\nbranch = "main"',
      '[[sessions]] # 55\nid = "e-way"\nagent = "practice"\nbranch = "feature/x"\nworktree = true',
    ];
    write(...lines);
    const before = await home.list();
    const refused = await reeve("up");
    expect(refused.status).toBe(78);
    const told = refused.stderr
      .trim()
      .split("\n")
      .map((line) => line.replaceAll(directory, "DIR").replaceAll(repository.root, "ROOT"));
    expect(told).toMatchInlineSnapshot(`
      [
        "reeve.toml:2:1: Another manifest has a session e-claimed already: ROOT/other.toml; give this one another id, or end that one with: reeve down -f ROOT/other.toml",
        "reeve.toml:8:1: There is a session e-named already, which this manifest did not make; rename it with reeve rename, end it, or choose another id.",
        "reeve.toml:10:1: There is no program "no-such-program" to run; check the spelling, or give its full path.",
        "reeve.toml:15:1: There is no agent "codexx"; did you mean codex?",
        "reeve.toml:17:1: Everybody on this machine can read or change DIR/open, which holds secrets; run: chmod 600 'DIR/open'",
        "reeve.toml:18:1: The file DIR/missing with the value of KEY cannot be read (it does not exist); check the path given with key_file.",
        "reeve.toml:23:1: The directory DIR/no such directory does not exist; create it or give another with workspace.",
        "reeve.toml:27:1: There is no branch mian in ROOT; did you mean main?",
        "reeve.toml:29:1: Session e-branch names no branch; add branch = "…", the git branch that it works on.",
        "reeve.toml:30:6: There is a session e-branch on line 25 already; give this one another id.",
        "reeve.toml:31:1: There is no agent "practise"; did you mean practice?",
        "reeve.toml:32:9: The value of model looks like a secret, which must not stand in a manifest; put it into a file that only you can read and name that with env_file or key_file.",
        "reeve.toml:33:1: There is no key "restrat" of a session; did you mean restart?",
        "reeve.toml:34:21: timeouts.turn must be a number of seconds, a time such as "30m", or { after = "30m", then = "report", "interrupt" or "end" }, not "long".",
        "reeve.toml:38:1: Branch main is checked out in ROOT, which Reeve did not make; name another branch, or give that directory as workspace without worktree.",
        "reeve.toml:45:1: There is no branch, tag or commit nowhere in ROOT; check the spelling.",
        "reeve.toml:50:1: There is no runtime "cloud"; known are: tmux, docker.",
        "reeve.toml:51:1: Session e-claimed already works in ROOT and declared branch main for it; use worktree = true, or allow_shared_checkout = true.",
        "reeve.toml:58:1: Git cannot have both feature/x and feature, which is there; name another branch.",
        "19 mistakes in reeve.toml; nothing was changed.",
      ]
    `);
    expect(refused.stderr).not.toContain("ghp_");
    const json = await reeve("plan", "--json");
    expect([json.status, JSON.parse(json.stdout)]).toMatchObject([78, { error: { code: "manifest-invalid" } }]);
    expect((await home.list()).map(({ session_id: id }) => id)).toEqual(before.map(({ session_id: id }) => id));
    await home.json("end", "--all", "--when", "now");
  });

  test("a mistake in the defaults is told once, however many sessions it is about", async () => {
    const defaults = '[defaults]\nagent = "practise"\nworkspace = "nowhere"\nrestrat = "always"';
    write(defaults, ...["d-1", "d-2", "d-3"].map((id) => `[[sessions]]\nid = "${id}"\nbranch = "main"`));
    const refused = await reeve("plan");
    expect(refused.stderr.replaceAll(directory, "DIR")).toMatchInlineSnapshot(`
      "reeve.toml:2:1: There is no agent "practise"; did you mean practice?
      reeve.toml:3:1: The directory DIR/nowhere does not exist; create it or give another with workspace.
      reeve.toml:4:1: There is no key "restrat" in defaults; did you mean restart?
      3 mistakes in reeve.toml; nothing was changed.
      "
    `);
    expect(refused.status).toBe(78);
  });

  test("a manifest is known by its real path, and found from below", async () => {
    write(command("p"));
    await up();
    symlinkSync(join(directory, "reeve.toml"), join(directory, "link.toml"));
    mkdirSync(join(directory, "below"));
    const below = await home.run(["plan", "--json"], { cwd: join(directory, "below") });
    expect([below.status, JSON.parse(below.stdout)]).toMatchObject([0, { different: false }]);
    expect((await reeve("plan", "-f", "link.toml")).status).toBe(0);
    expect((await reeve("plan", "-f", "none.toml")).status).toBe(78);
    const nowhere = await home.run(["plan"], { cwd: "/" });
    expect([nowhere.status, nowhere.stderr]).toEqual([78, expect.stringContaining("There is no reeve.toml")]);
    expect(JSON.parse((await reeve("plan", "--schema")).stdout)).toHaveProperty("properties.sessions");
    expect((await reeve("down", "--when", "now")).status).toBe(0);
  });
});

function read(path: string): string | null {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return null;
  }
}
