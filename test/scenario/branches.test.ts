/** Sessions that declare a branch: checked before the launch, watched while they run. */
import { execFileSync } from "node:child_process";
import { rmSync } from "node:fs";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { eventually } from "../support/eventually.ts";
import { createGitRepository, type GitRepository } from "../support/git-repository.ts";
import { createTestHome, type EventRow, type Result, type TestHome } from "../support/test-home.ts";

let home: TestHome;
let repository: GitRepository;
beforeAll(() => {
  home = createTestHome();
});
afterAll(() => home.dispose());
beforeEach(() => {
  repository = createGitRepository();
});
afterEach(() => repository.dispose());

const SLEEP = ["--", "sleep", "600"];
const here = (name: string, ...options: readonly string[]): string[] => [
  "start",
  "command",
  "--name",
  name,
  "--cwd",
  repository.root,
  ...options,
  ...SLEEP,
];

async function eventsOf(name: string, type: string): Promise<readonly EventRow[]> {
  const { events } = await home.json<{ events: EventRow[] }>("events", name, "--since", "0");
  return events.filter((event) => event.type === type);
}

async function untilSession(name: string, state: string, actual: string | null): Promise<void> {
  await eventually(`${name} is ${state} on ${actual}`, async () => {
    const session = await home.session(name);
    return session.state === state && (session["branch"] as { actual: string | null }).actual === actual;
  });
}

function refusalOf({ stdout }: Result): { readonly code: string; readonly message: string } {
  return (JSON.parse(stdout) as { error: { code: string; message: string } }).error;
}

describe("another branch is checked out under a session", () => {
  test("in each way that git has: told, and paused by its policy until it is back", async () => {
    await home.json(...here("worker", "--branch", "main", "--branch-policy", "pause"));
    await untilSession("worker", "running", "main");
    const ways: readonly { readonly go: () => void; readonly back: () => void; readonly says: string }[] = [
      {
        go: () => repository.git("switch", "--quiet", "feature"),
        back: () => repository.git("switch", "--quiet", "main"),
        says: "on branch feature",
      },
      {
        go: () => repository.git("checkout", "--quiet", "-b", "new"),
        back: () => repository.git("checkout", "--quiet", "main"),
        says: "on branch new",
      },
      {
        go: () => repository.git("switch", "--quiet", "--detach"),
        back: () => repository.git("switch", "--quiet", "main"),
        says: "on no branch",
      },
      {
        go: () => {
          repository.commit("same", "of main\n");
          repository.tryGit("rebase", "feature");
        },
        back: () => repository.git("rebase", "--abort"),
        says: "a rebase of main is under way",
      },
      {
        go: () => {
          const elsewhere = [`--git-dir=${repository.root}/.git`, `--work-tree=${repository.root}`];
          execFileSync("git", [...elsewhere, "symbolic-ref", "HEAD", "refs/heads/feature"], { cwd: "/" });
        },
        back: () => repository.git("symbolic-ref", "HEAD", "refs/heads/main"),
        says: "on branch feature",
      },
    ];
    for (const [index, { go, back, says }] of ways.entries()) {
      go();
      await untilSession("worker", "paused", says.startsWith("on branch") ? says.slice("on branch ".length) : null);
      const told = (await eventsOf("worker", "branch-mismatched")).at(-1);
      expect(told).toMatchObject({
        data: { declared: "main", policy: "pause", reason: { text: expect.stringContaining(says) as string } },
      });
      back();
      await untilSession("worker", "running", "main");
      expect(await eventsOf("worker", "branch-restored")).toHaveLength(index + 1);
    }
  });

  test("while no daemon runs: told when the next one starts, and so is the way back", async () => {
    await home.json(...here("survivor", "--branch", "main", "--branch-policy", "pause"));
    await untilSession("survivor", "running", "main");
    await home.killDaemon();
    repository.git("switch", "--quiet", "feature");
    await untilSession("survivor", "paused", "feature");
    await home.killDaemon();
    repository.git("switch", "--quiet", "main");
    await untilSession("survivor", "running", "main");
  });

  test("a message says so with it, and is refused by the policy error until the branch is back", async () => {
    for (const [name, policy] of [
      ["warned", "warn"],
      ["held", "error"],
    ] as const) {
      repository.git("worktree", "add", "--quiet", "-b", name, repository.beside(name));
      const where = ["--cwd", repository.beside(name), "--branch", name, "--branch-policy", policy];
      await home.json("start", "practice", "--name", name, ...where);
      await eventually(`${name} is idle`, async () => (await home.session(name))["activity"] === "idle");
      repository.git("-C", repository.beside(name), "switch", "--quiet", "--detach");
      await untilSession(name, "running", null);
    }
    const sent = await home.json("send", "warned", "say hello");
    expect(sent).toMatchObject({ warning: expect.stringContaining("on no branch, not on warned.") as string });
    const refused = await home.run(["send", "held", "say hello", "--json"]);
    expect([refused.status, refusalOf(refused).code]).toEqual([1, "branch-mismatch"]);
    expect(await home.session("held")).toMatchObject({ state: "running", need: "blocked", failure: "branch-mismatch" });
    repository.git("-C", repository.beside("held"), "switch", "--quiet", "held");
    await untilSession("held", "running", "held");
    expect(await home.json("send", "held", "say hello")).toMatchObject({ state: "delivered", warning: null });
  });
});

describe("one checkout", () => {
  test("belongs to the session that declared its branch, unless the next one is allowed to share it", async () => {
    await home.json(...here("first"));
    await home.json(...here("second"));
    const declared = await home.run([...here("third", "--branch", "main", "--json")]);
    expect(refusalOf(declared)).toMatchObject({
      code: "checkout-taken",
      message: expect.stringContaining("Session first already works in") as string,
    });
    await home.json("end", "first", "--when", "now", "--grace", "0");
    await home.json("end", "second", "--when", "now", "--grace", "0");
    const starts = ["left", "right"].map((name) => home.run(here(name, "--branch", "main", "--json")));
    const results = await Promise.all(starts);
    expect(new Set(results.map(({ status }) => status))).toEqual(new Set([0, 1]));
    const plain = await home.run(here("plain", "--json"));
    expect(refusalOf(plain).message).toContain("and declared branch main for it; use --worktree");
    await home.json(...here("guest", "--allow-shared-checkout"));
    expect(await home.session("guest")).toMatchObject({ state: "running", branch: { declared: null, actual: "main" } });
  });

  test("is told in numbers by git, once somebody has looked", async () => {
    repository.git("branch", "--quiet", "--set-upstream-to", "feature");
    repository.commit("another", "1\n");
    repository.write("new", "1\n");
    await home.json(...here("counted"));
    const shown = await eventually("what git says", async () => {
      const session = await home.session("counted");
      return session["git"] !== null && session;
    });
    expect(shown).toMatchObject({
      branch: { declared: null, actual: "main", commit: repository.git("rev-parse", "HEAD").trim() },
      git: { ahead: 1, behind: 1, dirty: 1 },
    });
    expect((await home.run(["list"])).stdout).toContain("main +1 -1 *1");
  });
});

describe("a session that is started again", () => {
  test("is started on another branch by the policy warn only", async () => {
    for (const [name, policy] of [
      ["again", "warn"],
      ["kept", "pause"],
    ] as const) {
      repository.git("worktree", "add", "--quiet", "-b", name, repository.beside(name));
      const where = ["--cwd", repository.beside(name), "--branch", name, "--branch-policy", policy];
      await home.json("start", "command", "--name", name, ...where, "--", "sh", "-c", "read line");
      await untilSession(name, "running", name);
      await home.run(["send", name, "go"]);
      await eventually(`${name} ended`, async () => (await home.session(name)).state === "stopped");
      repository.git("-C", repository.beside(name), "switch", "--quiet", "--detach");
    }
    await home.json("restart", "again");
    await untilSession("again", "running", null);
    const refused = await home.run(["restart", "kept", "--json"]);
    expect(refusalOf(refused)).toMatchObject({
      code: "branch-mismatch",
      message: expect.stringContaining("Check out kept there, then restart the session.") as string,
    });
    expect(await home.session("kept")).toMatchObject({ state: "error", reason_code: "branch-mismatch" });
    repository.git("-C", repository.beside("kept"), "switch", "--quiet", "kept");
    await home.json("restart", "kept");
    await untilSession("kept", "running", "kept");
  });

  test("together with another of the same checkout does not get it: one of them does", async () => {
    const both = ["earlier", "later"];
    for (const name of both) {
      const where = ["--cwd", repository.root, "--branch", "main"];
      await home.json(
        "start",
        "command",
        "--name",
        name,
        ...where,
        "--",
        "sh",
        "-c",
        "[ -e live ] || exit 0; sleep 600",
      );
      await eventually(`${name} ended`, async () => (await home.session(name)).state === "stopped");
    }
    repository.write("live", "");
    const results = await Promise.all(both.map((name) => home.run(["restart", name, "--json"])));
    expect(new Set(results.map(({ status }) => status))).toEqual(new Set([0, 1]));
    const refused = results.find(({ status }) => status !== 0);
    expect(refused === undefined ? null : refusalOf(refused)).toMatchObject({ code: "checkout-taken" });
  });

  test("is not tried again and again when its directory was deleted", async () => {
    const directory = repository.beside("linked");
    repository.git("worktree", "add", "--quiet", directory, "feature");
    const where = ["--cwd", directory, "--branch", "feature", "--restart", "always"];
    const { session_id: id } = await home.json<{ session_id: string }>(
      "start",
      "command",
      "--name",
      "lost",
      ...where,
      ...SLEEP,
    );
    await untilSession("lost", "running", "feature");
    rmSync(directory, { recursive: true });
    for (const { pid } of home.marked(id)) process.kill(pid, "SIGKILL");
    await eventually("it is given up", async () => (await home.session("lost")).reason_code === "missing-directory");
    expect(await home.session("lost")).toMatchObject({ state: "error", restarts: 1, restart_due_at: null });
  });
});

test("bad input: one sentence, and nothing is changed", async () => {
  const names = async (): Promise<readonly string[]> => (await home.list()).map(({ name }) => name);
  const before = await names();
  const refused = async (code: string, sentence: string, ...options: readonly string[]): Promise<void> => {
    const where = options.includes("--cwd") ? [] : ["--cwd", repository.root];
    const status = repository.git("status", "--porcelain=v2", "--branch");
    const result = await home.run(["start", "command", ...where, ...options, "--json", ...SLEEP]);
    expect(refusalOf(result)).toMatchObject({ code, message: expect.stringContaining(sentence) as string });
    expect(repository.git("status", "--porcelain=v2", "--branch")).toBe(status);
  };
  await refused("unknown-branch", "did you mean feature?", "--branch", "featur");
  await refused("branch-mismatch", "is on branch main, not on feature;", "--branch", "feature");
  await refused("branch-mismatch", "is not in a git checkout", "--cwd", home.dir, "--branch", "main");
  await refused("missing-branch", "add --branch", "--branch-policy", "pause");
  repository.git("worktree", "add", "--quiet", repository.beside("linked"), "feature");
  await refused("branch-elsewhere", "Branch feature is checked out in", "--branch", "feature");
  const bare = repository.beside("bare.git");
  repository.git("clone", "--quiet", "--bare", repository.root, bare);
  await refused("bare-repository", "is a bare git repository", "--cwd", bare, "--branch", "main");
  repository.git("switch", "--quiet", "--detach");
  await refused("branch-mismatch", "and on no branch, not on main;", "--branch", "main");
  repository.git("switch", "--quiet", "main");
  repository.commit("same", "of main\n");
  repository.tryGit("rebase", "feature");
  await refused("branch-mismatch", "a rebase of main is under way; finish or abort it", "--branch", "main");
  expect(await names()).toEqual(before);
});
