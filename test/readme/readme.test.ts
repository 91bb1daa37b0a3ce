/** Every command in the README, the quick start, the guide to scripting and the life of a session is run, in the order in which a newcomer meets it. */
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { claudeHome, codexHome } from "../scripted-model/agent-homes.ts";
import { startScriptedModel, type ScriptedModel } from "../scripted-model/scripted-model.ts";
import { eventually } from "../support/eventually.ts";
import type { TestHome } from "../support/test-home.ts";
import { createTestHome, runProgram } from "../support/test-home.ts";
import { blocksOf } from "./blocks.ts";

const ROOT = join(import.meta.dirname, "..", "..");
const readme = readFileSync(join(ROOT, "README.md"), "utf8");

const linesOf = (language: string) => blocksOf(readme, language).flatMap((block) => block.split("\n"));

let home: TestHome;
let model: ScriptedModel;
/** Installed and logged in as usual: of the real agents only the model is ours. */
let agents: Readonly<Record<string, string>>;
beforeAll(async () => {
  home = createTestHome();
  model = await startScriptedModel();
  const options = { trust: [ROOT] };
  const homes = [await claudeHome(home.dir, model.url, options), await codexHome(home.dir, model.url, options)];
  const environments = homes.map(({ environment }) => environment);
  // Codex's guard against the network is a proxy that nobody answers; Claude Code would ask it for loopback too.
  agents = Object.assign({}, ...environments, home.environment, { NO_PROXY: "127.0.0.1" });
});
afterAll(async () => {
  await home.dispose();
  await model.close();
});

/** As typed in a shell, with `reeve` on the path. */
const type = (line: string) =>
  runProgram("sh", ["-c", line], {
    ...home.environment,
    PATH: `${join(ROOT, "bin")}:${home.environment["PATH"] ?? ""}`,
  });

describe("the commands", () => {
  const lines = linesOf("sh");

  test("there are some", () => {
    expect(lines[0]).toBe("npm start");
    expect(lines.length).toBeGreaterThan(15);
  });

  test.each(lines)("%s", async (line) => {
    const { status, stdout, stderr } = await runProgram("sh", ["-c", `cd '${ROOT}' && ${line}`], {
      ...agents,
      PATH: `${join(ROOT, "bin")}:${home.environment["PATH"] ?? ""}`,
    });
    expect(status, `${stdout}${stderr}`).toBe(0);
    if (line !== "npm start") return;
    expect(stdout).toMatch(/demo-asks.*awaiting-approval/);
    expect(stdout).toMatch(/demo-crashes.*error/);
    expect(stdout).toMatch(/reeve attach demo-asks/);
  });
});

/** A block is one script here: its lines share variables, and the first that fails ends it. */
describe.each(["guide/quick-start.md", "guide/scripting.md", "guide/time-outs.md", "spec/agent-lifecycle.md"])(
  "the blocks of %s",
  (name) => {
    const guide = readFileSync(join(ROOT, "docs", name), "utf8");
    let ownHome: TestHome;
    beforeAll(() => {
      ownHome = createTestHome();
      mkdirSync(join(ownHome.dir, "project"));
    });
    afterAll(() => ownHome.dispose());

    test("are there", () => expect(blocksOf(guide, "sh").length).toBeGreaterThan(2));

    test.each(blocksOf(guide, "sh"))("%s", async (block) => {
      const { status, stdout, stderr } = await runProgram(
        "sh",
        ["-ec", `cd '${join(ownHome.dir, "project")}'\n${block}`],
        { ...ownHome.environment, PATH: `${join(ROOT, "bin")}:${ownHome.environment["PATH"] ?? ""}` },
      );
      expect(status, `${stdout}${stderr}`).toBe(0);
    });
  },
);

test("the interactive ones, in a real terminal", async () => {
  const [line = ""] = linesOf("console");
  expect(line).toBe("$ reeve attach helper        # C-b d leaves it running");
  expect((await type("reeve start practice --name helper")).status).toBe(0);
  const terminal = (...args: readonly string[]) =>
    runProgram("tmux", ["-S", join(home.dir, "person.sock"), "-f", "/dev/null", ...args], home.environment);
  await terminal(
    "new-session",
    "-d",
    "-x",
    "100",
    "-y",
    "30",
    `${join(ROOT, "bin", "reeve")} attach helper; echo left with $?; sleep 60`,
  );
  try {
    await eventually("the session is shown", async () =>
      (await terminal("capture-pane", "-p")).stdout.includes("Practice agent"),
    );
    await terminal("send-keys", "C-b", "d");
    await eventually("it was left", async () => (await terminal("capture-pane", "-p")).stdout.includes("left with 0"));
    expect((await home.json<{ sessions: { name: string; state: string }[] }>("list")).sessions).toMatchObject([
      { name: "helper", state: "running" },
    ]);
  } finally {
    await terminal("kill-server");
  }
});
