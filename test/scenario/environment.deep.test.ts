/** What a session's process sees, and where its secrets are not. */
import { type Dirent, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { eventually } from "../support/eventually.ts";
import { killIfThere } from "../support/kill.ts";
import { readIfThere } from "../support/read-if-there.ts";
import { standInCodex } from "../support/stand-in-codex.ts";
import type { TestHome } from "../support/test-home.ts";
import { createTestHome, runProgram } from "../support/test-home.ts";

let home: TestHome;
beforeEach(() => {
  home = createTestHome();
});
afterEach(() => home.dispose());

async function environmentOf(file: string): Promise<Record<string, string>> {
  const text = await eventually("the environment was written", () => {
    try {
      const found = readFileSync(join(home.dir, file), "utf8");
      return found.endsWith("END\0") && found;
    } catch {
      return false;
    }
  });
  return Object.fromEntries(
    text
      .split("\0")
      .filter((entry) => entry.includes("="))
      .map((entry) => [entry.slice(0, entry.indexOf("=")), entry.slice(entry.indexOf("=") + 1)]),
  );
}

const dump = (file: string): readonly string[] => [
  "sh",
  "-c",
  `env -0 > ${file}; printf 'END\\0' >> ${file}; sleep 600`,
];

test("the caller's, less Reeve's and other agents' own, plus --env and --env-file", async () => {
  writeFileSync(join(home.dir, "secrets.env"), "FROM_FILE=file-value\nSHARED=file\n");
  const environment = {
    MINE: "with spaces, 'quotes' and $dollars\nand a second line",
    CLAUDE_CODE_CHILD_SESSION: "1",
    TMUX: "/tmp/x,1,2",
    REEVE_MARK: "forged.x.1",
    ANTHROPIC_API_KEY: "kept",
  };
  const { status } = await home.run(
    [
      "start",
      "command",
      "--name",
      "env",
      "--cwd",
      home.dir,
      "--env",
      "GIVEN=by hand",
      "--env",
      "SHARED=hand",
      "--env-file",
      join(home.dir, "secrets.env"),
      "--",
      ...dump("seen"),
    ],
    { environment },
  );
  expect(status).toBe(0);
  const seen = await environmentOf("seen");
  expect(seen).toMatchObject({
    MINE: environment.MINE,
    GIVEN: "by hand",
    FROM_FILE: "file-value",
    SHARED: "hand",
    ANTHROPIC_API_KEY: "kept",
    REEVE_HOME: home.dir,
  });
  expect(seen["REEVE_MARK"]).toMatch(/^[a-z0-9]+\.[a-z0-9]+\.1$/);
  expect(Object.keys(seen)).not.toEqual(expect.arrayContaining(["TMUX"]));
  for (const name of ["TMUX", "TMUX_PANE", "CLAUDE_CODE_CHILD_SESSION", "REEVE_FAILPOINT_FILE"])
    expect(seen).not.toHaveProperty(name);
});

test("a restart sees the same environment, and says so when that is gone", async () => {
  const environment = { MINE: "kept by the runtime" };
  await home.run(
    [
      "start",
      "command",
      "--name",
      "env",
      "--cwd",
      home.dir,
      "--env",
      "GIVEN=by hand",
      "--",
      "sh",
      "-c",
      'n=$(ls | grep -c "^run-"); env -0 > run-$n; printf "END\\0" >> run-$n; sleep 600',
    ],
    { environment },
  );
  expect(await environmentOf("run-0")).toMatchObject({ MINE: "kept by the runtime", GIVEN: "by hand" });
  await home.killDaemon();
  await home.json("restart", "env");
  expect(await environmentOf("run-1")).toMatchObject({ MINE: "kept by the runtime", GIVEN: "by hand" });
  await runProgram("tmux", ["-S", home.tmuxSocket, "kill-server"], home.environment);
  await eventually("it is reported dead", async () => (await home.session("env")).state === "error");
  const refused = await home.run(["restart", "env", "--json"]);
  expect(refused.status).toBe(1);
  expect(JSON.parse(refused.stdout)).toMatchObject({ error: { code: "environment-lost" } });
  expect(await home.session("env")).toMatchObject({
    state: "error",
    reason_code: "environment-lost",
    reason: expect.stringContaining("GIVEN") as string,
  });
});

test("no secret reaches the disk", async () => {
  const canaries = ["canary-by-hand-7f3a", "canary-by-file-91c2", "canary-inherited-55d0"];
  writeFileSync(join(home.dir, "secrets.env"), `FILE_SECRET=${canaries[1]}\n`);
  const print =
    "echo $HAND_SECRET $FILE_SECRET $SOME_API_KEY; read x; echo again $HAND_SECRET $FILE_SECRET $SOME_API_KEY; exit 3";
  await home.run(
    [
      "start",
      "command",
      "--name",
      "leaky",
      "--cwd",
      home.dir,
      "--env",
      `HAND_SECRET=${canaries[0]}`,
      "--env-file",
      join(home.dir, "secrets.env"),
      "--",
      "sh",
      "-c",
      print,
    ],
    { environment: { SOME_API_KEY: canaries[2] ?? "" } },
  );
  await eventually("it printed", async () => (await home.run(["data", "leaky"])).stdout.includes("canary"));
  await home.killDaemon();
  await home.run(["send", "leaky", "go"]);
  await eventually("it ended", async () => (await home.session("leaky")).state === "error");
  await home.json("end", "leaky");
  await home.json("daemon", "stop");
  await expectNowhere(canaries);
});

/** In no file of the home but those that the test itself wrote. A state.json follows its commit after a moment. */
async function expectNowhere(canaries: readonly string[]): Promise<void> {
  const wanted = ["reeve.db", "state.json", "output.log", "daemon.log"];
  const files = await eventually("everything is written", () => {
    const found = ownFiles();
    return wanted.every((name) => found.some((file) => file.name === name)) && found;
  });
  for (const file of files) {
    // One that was about to take another's place has done so.
    const text = readIfThere(join(file.parentPath, file.name)) ?? "";
    for (const canary of canaries) expect(text.includes(canary), `${canary} in ${file.name}`).toBe(false);
  }
}

function ownFiles(): readonly Dirent[] {
  return readdirSync(home.dir, { recursive: true, withFileTypes: true }).filter(
    (entry) => entry.isFile() && entry.name !== "secrets.env" && !entry.parentPath.includes("/stand-in"),
  );
}

test("no secret reaches the disk with what agents ask and say, also of one that died unwatched", async () => {
  const canary = "canary-by-hand-7f3a";
  const codex = standInCodex(home);
  const asking = join(home.dir, "stand-in", "asking");
  writeFileSync(asking, '#!/bin/sh\nprintf "Use $HAND_SECRET (y/n)"\nread -r x\nexit 3\n', { mode: 0o755 });
  home.configure(`${codex.toml}[agent.asking]
command = "${asking}"
ready = '^>$'
working = '^working'
waiting = '^Use .+$'
`);
  const given = ["--env", `HAND_SECRET=${canary}`];
  await home.json("start", "asking", "--name", "seen", ...given);
  await codex.start("told", ...given);
  codex.hook("UserPromptSubmit", { turn_id: "t2", prompt: `use ${canary}` });
  codex.hook("PermissionRequest", {
    turn_id: "t2",
    tool_name: "Bash",
    tool_input: { command: `curl -H ${canary}`, description: `because of ${canary}` },
  });
  const { approvals } = await eventually("it asks", async () => {
    const found = await home.json<{ approvals: { subject: string }[] }>("approvals", "told");
    return found.approvals.length === 1 && found;
  });
  expect(approvals[0]?.subject).toMatch(/^curl -H \S+$/);
  codex.event("task_complete", {
    turn_id: "t2",
    last_agent_message: null,
    error: { message: `${canary} was refused` },
  });
  await eventually("the error is known", async () => (await home.session("told"))["last_turn"] === "failed");
  await eventually("the question is known, whole and without it", async () =>
    /^Use \S+ \(y\/n\)$/.test(String((await home.session("seen"))["asks"])),
  );

  const { session_id } = await home.session("told");
  await home.killDaemon();
  await ended(session_id, () => {
    codex.hook("UserPromptSubmit", { turn_id: "t3", prompt: `use ${canary}` });
    codex.hook("PermissionRequest", { turn_id: "t3", tool_name: "Bash", tool_input: { command: `curl ${canary}` } });
    codex.event("task_complete", { turn_id: "t3", last_agent_message: null, error: { message: `${canary} again` } });
  });
  const told = await eventually("its last turn is known", async () => {
    const session = await home.session("told");
    return session["turns"] === 3 && session["last_turn"] === "failed" && session;
  });
  expect(told["last_turn_error"]).toMatch(/^\(not kept: /);
  await eventually("its spool is read", () => readdirSync(join(String(told["outputs_dir"]), "spool")).length === 0);
  await expectNowhere([canary]); // also while it is all at work, in the write-ahead log
  await home.json("end", "seen", "told", "--when", "now", "--grace", "0");
  await home.json("daemon", "stop");
  await expectNowhere([canary]);
});

/** Kills its processes while there is no daemon, after it said its last words. */
async function ended(session_id: string, lastWords: () => void): Promise<void> {
  lastWords();
  for (const { pid } of home.marked(session_id)) killIfThere(pid);
  await eventually("it is gone", () => home.marked(session_id).length === 0);
}
