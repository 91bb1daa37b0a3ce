/** Bad input: one sentence, a stable code, the right exit status, and nothing changed. */
import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { eventually } from "../support/eventually.ts";
import type { TestHome } from "../support/test-home.ts";
import { createTestHome, runProgram } from "../support/test-home.ts";

interface Refusal {
  readonly error: { readonly code: string; readonly message: string };
}

describe("a request that makes no sense", () => {
  let home: TestHome;
  beforeAll(async () => {
    home = createTestHome();
    await home.json("start", "command", "--name", "alpha", "--", "sleep", "600");
    await eventually("it runs", async () => (await home.session("alpha")).state === "running");
  });
  afterAll(() => home.dispose());

  const strange = [
    "../etc",
    "a;b",
    "#{pane_pid}",
    "-t",
    "x".repeat(4_096),
    "\u202Eevil",
    "UPPER",
    "a b",
    "a.b",
    "a/b",
    "%1",
    "=alpha",
  ];
  const cases: readonly {
    readonly what: string;
    readonly args: () => readonly string[];
    readonly code: string | RegExp;
    readonly status: number;
  }[] = [
    { what: "unknown session", args: () => ["end", "alpah"], code: "unknown-session", status: 1 },
    { what: "unknown agent", args: () => ["start", "nonesuch"], code: "unknown-agent", status: 2 },
    {
      what: "unknown runtime",
      args: () => ["start", "command", "--runtime", "moon", "--", "true"],
      code: "unknown-runtime",
      status: 2,
    },
    {
      what: "missing directory",
      args: () => ["start", "command", "--cwd", "/no/such/place", "--", "true"],
      code: "missing-directory",
      status: 2,
    },
    {
      what: "missing program",
      args: () => ["start", "command", "--", "no-such-program-at-all"],
      code: "command-not-found",
      status: 2,
    },
    {
      what: "a directory as program",
      args: () => ["start", "command", "--", "/tmp"],
      code: "command-not-found",
      status: 2,
    },
    { what: "no program", args: () => ["start", "command"], code: "command-missing", status: 2 },
    {
      what: "missing environment file",
      args: () => ["start", "command", "--env-file", "/no/such/file", "--", "true"],
      code: "env-file-unreadable",
      status: 2,
    },
    {
      what: "name taken",
      args: () => ["start", "command", "--name", "alpha", "--", "true"],
      code: "name-taken",
      status: 1,
    },
    {
      what: "wrong branch",
      args: () => ["start", "command", "--branch", "nope", "--cwd", home.dir, "--", "true"],
      code: "branch-mismatch",
      status: 1,
    },
    { what: "empty message", args: () => ["send", "alpha", ""], code: "bad-request", status: 2 },
    {
      what: "an unknown thing to wait for",
      args: () => ["wait", "alpha", "--for", "doomsday"],
      code: "bad-value",
      status: 2,
    },
    { what: "too long a tail", args: () => ["data", "alpha", "--tail", "49153"], code: "bad-value", status: 2 },
    { what: "unknown command", args: () => ["strat", "command"], code: "unknown-command", status: 2 },
    { what: "unknown option", args: () => ["list", "--al"], code: "unknown-option", status: 2 },
    ...strange.map((name) => ({
      what: `the name ${JSON.stringify(name.slice(0, 20))}`,
      args: () => ["start", "command", `--name=${name}`, "--", "true"],
      code: /^bad-(?:request|value)$/,
      status: 2,
    })),
    ...strange.map((role) => ({
      what: `the role ${JSON.stringify(role.slice(0, 20))}`,
      args: () => ["start", "command", `--role=${role}`, "--", "true"],
      code: /^bad-(?:request|value)$/,
      status: 2,
    })),
    ...strange
      .filter((name) => !name.startsWith("-"))
      .map((name) => ({
        what: `the session ${JSON.stringify(name.slice(0, 20))}`,
        args: () => ["end", name],
        code: /^bad-(?:request|value)$/,
        status: 2,
      })),
  ];

  test.each(cases)("$what", async ({ args, code, status }) => {
    const before = await recorded();
    const result = await home.run([...insertJson(args())]);
    expect(result.status, result.stdout + result.stderr).toBe(status);
    const { error } = JSON.parse(result.stdout) as Refusal;
    expect(error.code).toMatch(typeof code === "string" ? new RegExp(`^${code}$`) : code);
    expect(error.message).toMatch(/^[^\n\u0000-\u001f\u202e]{10,600}[.?]$/u);
    expect(await recorded()).toEqual(before);
  });

  /** Without what git says of the checkout meanwhile. */
  const recorded = async (): Promise<readonly object[]> =>
    (await home.list()).map(({ git: _git, branch: _branch, ...row }) => row);

  test("an ambiguous prefix names what it could mean", async () => {
    const ids: string[] = [];
    // Ids are random: with enough sessions two of them share a first letter.
    while (new Set(ids.map((id) => id[0])).size === ids.length)
      ids.push((await home.json<{ session_id: string }>("start", "command", "--", "sleep", "600")).session_id);
    const letter = ids.map((id) => id[0] ?? "").find((first, index, all) => all.indexOf(first) !== index) ?? "";
    const { status, stdout } = await home.run(["data", letter, "--json"]);
    expect(status).toBe(2);
    expect((JSON.parse(stdout) as Refusal).error.code).toBe("ambiguous-session");
  });

  test("a NUL in an argument cannot come by argv; over HTTP it is refused", async () => {
    const body = JSON.stringify({ agent: "command", args: ["echo", "a\0b"], cwd: "/tmp" });
    const { stdout } = await runProgram(
      "curl",
      [
        "-s",
        "--unix-socket",
        home.socketPath,
        "http://localhost/v1/sessions",
        "-H",
        "content-type: application/json",
        "-d",
        body,
      ],
      home.environment,
    );
    expect(JSON.parse(stdout)).toMatchObject({ status: 400, code: "bad-request" });
  });

  test("a second daemon on the same home gives way", async () => {
    const result = await home.run(["daemon", "run"]);
    expect(result.stdout + result.stderr).toMatch(/already|another/i);
    expect(result.status).not.toBe(0);
  });
});

function insertJson(args: readonly string[]): readonly string[] {
  const at = args.indexOf("--");
  return at === -1 ? [...args, "--json"] : [...args.slice(0, at), "--json", ...args.slice(at)];
}

describe("a home that cannot be used", () => {
  const made: string[] = [];
  afterEach(() => made.splice(0).forEach((path) => rmSync(path, { recursive: true, force: true })));
  const environment = (home: string) => ({
    PATH: `${join(import.meta.dirname, "../../node_modules/.bin")}:${process.env["PATH"] ?? ""}`,
    HOME: "/tmp",
    REEVE_HOME: home,
  });
  const reeve = (home: string) =>
    runProgram(join(import.meta.dirname, "../../bin/reeve"), ["list", "--json"], environment(home));

  function directory(): string {
    const path = mkdtempSync(join(tmpdir(), "reeve-bad-"));
    made.push(path);
    return path;
  }

  test("world-readable", async () => {
    const home = directory();
    chmodSync(home, 0o755);
    const { status, stdout } = await reeve(home);
    expect(status).toBe(78);
    expect((JSON.parse(stdout) as Refusal).error).toMatchObject({
      code: "home-not-private",
      message: expect.stringContaining("chmod") as string,
    });
  });

  test("a file", async () => {
    const home = join(directory(), "file");
    writeFileSync(home, "");
    const { status, stdout } = await reeve(home);
    expect([77, 78]).toContain(status);
    expect((JSON.parse(stdout) as Refusal).error.code).toMatch(/^home-not-/);
  });

  test("on a file system that cannot be written", async () => {
    const { status, stdout } = await reeve("/proc/reeve-home");
    expect([77, 78]).toContain(status);
    expect((JSON.parse(stdout) as Refusal).error.code).toMatch(/^home-not-/);
  });

  test("too long a path for a socket", async () => {
    const { status, stdout } = await reeve(`/tmp/${"long/".repeat(30)}`);
    expect(status).toBe(78);
    expect((JSON.parse(stdout) as Refusal).error.code).toBe("home-path-too-long");
  });

  test("tmux missing", async () => {
    const home = directory();
    const bin = join(home, "bin");
    mkdirSync(bin);
    const node = join(import.meta.dirname, "../../node_modules/.bin/node");
    symlinkSync(node, join(bin, "node"));
    const run = (...args: readonly string[]) =>
      runProgram(join(import.meta.dirname, "../../bin/reeve"), args, { ...environment(home), PATH: bin });
    const started = await run("start", "command", "--name", "x", "--json", "--", "/bin/sleep", "5");
    expect([started.status, (JSON.parse(started.stdout) as Refusal).error.code]).toEqual([78, "tmux-missing"]);
    expect(JSON.parse((await run("list", "--all", "--json")).stdout)).toMatchObject({ sessions: [] });
    await run("daemon", "stop");
  });
});
