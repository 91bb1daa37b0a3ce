/**
 * A person's first ten minutes. The README's lines, typed one after
 * the other on a terminal of 80 x 24 by somebody who has neither Reeve's files
 * nor its tests' settings: in a fresh clone, and with the package installed.
 * What is checked is what the person sees.
 */
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { isDead, listProcesses, readCommandLine, readEnvironmentVariable } from "../../src/platform/process-table.ts";
import { AGENT_PROGRAMS } from "../agent-programs/agent-programs.ts";
import { claudeHome, codexHome } from "../scripted-model/agent-homes.ts";
import { startScriptedModel, type ScriptedModel } from "../scripted-model/scripted-model.ts";
import { eventually } from "../support/eventually.ts";
import { installGlobally } from "./install-package.ts";
import { COLUMNS, type Newcomer, type Seen, sitDown } from "./newcomer.ts";
import { PROMISES } from "./promises.ts";

const ROOT = join(import.meta.dirname, "..", "..");
/** A machine on which nobody prepared anything for Reeve: its own programs, and the agents. */
const MACHINE = (process.env["PATH"] ?? "").split(delimiter).filter((entry) => !entry.endsWith("node_modules/.bin"));

let directory = "";
let model: ScriptedModel;
beforeAll(async () => {
  // Sockets lie below it, so it is short.
  directory = realpathSync(mkdtempSync(join(tmpdir(), "rv-first-")));
  model = await startScriptedModel();
});
afterAll(async () => {
  await model.close();
  rmSync(directory, { recursive: true, force: true });
});

interface Way {
  readonly title: string;
  /** How `reeve` is typed. */
  readonly reeve: string;
  readonly tempo: "reads slowly" | "types at once";
  /** Makes the directory to work in; returns what else is on the path. */
  prepare(here: string, project: string): readonly string[];
}

const WAYS: readonly Way[] = [
  {
    title: "in a fresh clone",
    reeve: "bin/reeve",
    tempo: "reads slowly",
    prepare(_here, project) {
      execFileSync("git", ["clone", "--quiet", ROOT, project]);
      // What npm would fetch; `npm start` builds by itself. With another lock file it would install, into ours.
      const lock = readFileSync(join(project, "package-lock.json"), "utf8");
      if (lock !== readFileSync(join(ROOT, "node_modules", ".reeve-lock"), "utf8"))
        throw new Error("node_modules does not fit the committed lock file; run: sh script/setup.sh --for-tests");
      symlinkSync(join(ROOT, "node_modules"), join(project, "node_modules"));
      return [];
    },
  },
  {
    title: "with the package installed",
    reeve: "reeve",
    tempo: "types at once",
    prepare(here, project) {
      mkdirSync(project);
      const { bin } = installGlobally(join(here, "prefix"));
      // The README asks for a newer Node than some machines have.
      mkdirSync(join(here, "node"));
      symlinkSync(join(ROOT, "node_modules", "node", "bin", "node"), join(here, "node", "node"));
      return [bin, join(here, "node")];
    },
  },
];

test.concurrent.each(WAYS)(
  "the README's lines, typed $title",
  async (way) => {
    const here = join(directory, way.reeve.replace("/", "-"));
    const home = join(here, "home");
    const project = join(here, "project");
    mkdirSync(home, { recursive: true });
    const added = way.prepare(here, project);
    const environment = {
      ...(await claudeHome(home, model.url, { trust: [project] })).environment,
      ...(await codexHome(home, model.url, { trust: [project] })).environment,
      NO_PROXY: "127.0.0.1",
      PATH: [...added, AGENT_PROGRAMS, ...MACHINE].join(delimiter),
    };
    const person = await sitDown({ directory: here, cwd: project, environment, pauseMs: 500 });
    const program = way.reeve === "reeve" ? "reeve" : join(project, way.reeve);
    try {
      for (const line of linesFor(way)) await follow(line, { person, way, program });
      const left = await person.enter(`${way.reeve} uninstall --data --yes`);
      checkLook(left);
      expect(left.status).toBe(0);
      for (const path of [".local/state/reeve", ".local/share/reeve", ".config/reeve"])
        expect(existsSync(join(home, path)), path).toBe(false);
    } catch (error) {
      await leave(person, program);
      throw error;
    }
    await leave(person, program);
    await expectNobodyOf(home);
  },
  // Far more than it takes, also where ten others use the machine.
  300_000,
);

async function leave(person: Newcomer, program: string): Promise<void> {
  await person.run(program, ["uninstall", "--data", "--yes"]);
  await person.close();
}

test("no promise is left of a line that the README has no more", () => {
  const lines = readmeLines();
  expect(PROMISES.filter((promised) => !lines.some((line) => promised.line.test(line)))).toEqual([]);
});

/** The blocks that are typed, in the order of the page; interactive ones begin with `$ `. */
function readmeLines(): readonly string[] {
  const readme = readFileSync(join(ROOT, "README.md"), "utf8");
  const blocks = readme.matchAll(/^```(?:sh|console)\n([^]*?)^```/gm);
  return [...blocks].flatMap((block) => (block[1] ?? "").trim().split("\n"));
}

function linesFor({ reeve }: Way): readonly string[] {
  return readmeLines().filter((line) => line !== "npm start" || reeve !== "reeve");
}

interface Seat {
  readonly person: Newcomer;
  readonly way: Way;
  readonly program: string;
}

async function follow(line: string, { person, way, program }: Seat): Promise<void> {
  const typed = line.replaceAll(/(?<=^|^\$ |&& |; )reeve(?= |$)/g, way.reeve);
  if (line.startsWith("$ ")) return await visit(typed.slice(2).replace(/\s+#.*/, ""), person);
  if (way.tempo === "reads slowly" && line.startsWith("reeve wait")) await nothingWorks(person, program);
  const seen = await person.enter(typed);
  const text = seen.printed.join(" ").replaceAll(/\s+/g, " ").trim();
  expect(seen, text).toMatchObject({ status: 0 });
  if (!line.endsWith("--json")) checkLook(seen);
  for (const promised of PROMISES.filter((one) => one.line.test(line))) expect(text, line).toMatch(promised.shows);
}

/** Goes into a session, and to the board, and leaves both as the README says. */
async function visit(typed: string, person: Newcomer): Promise<void> {
  if (typed.endsWith("init claude")) return await register(typed, person);
  expect(typed).toMatch(/reeve attach helper$/);
  await person.open(typed);
  await person.shows(/I ran "before you continue"[^]*helper \(\w+\) .*detach: C-b d$/);
  await person.press("C-b", "d");
  await person.shows(/detached.*\n.*\$$/);
  await person.open(typed.replace(/ attach helper$/, ""));
  await person.shows(/^Reeve {2}[^]*\bhelper +practice [^]*q quit$/);
  await person.press("q");
  await person.shows(/\$$/);
}

/** Reads what will change, and agrees. */
async function register(typed: string, person: Newcomer): Promise<void> {
  await person.open(typed);
  await person.shows(/run: claude mcp add [^]*\bmcp\s[^]*\[y\/N\]\s*$/);
  await person.press("y", "Enter");
  await person.shows(/Done\. Start Claude Code anew[^]*\$$/);
}

/** Nothing that a program prints by mistake, and no line that the terminal had to break where a blank would have done. */
function checkLook({ line, printed }: Seen): void {
  const text = printed.join("\n");
  expect(text, line).not.toMatch(/undefined|\[object|\bNaN\b|\bnull\b|^\s+at .*:\d+:\d+|[A-Za-z]*Error: /m);
  // A path that is longer than the line stays whole, so that it can be copied.
  const broken = printed.filter((one) => one.length > COLUMNS && /\S\s+\S/.test(one));
  expect(broken, line).toEqual([]);
}

async function nothingWorks(person: Newcomer, program: string): Promise<void> {
  await eventually(
    "every agent is done or asks",
    async () => {
      const { stdout } = await person.run(program, ["list", "--json"]);
      const { sessions } = JSON.parse(stdout) as { sessions: { state: string; activity: string }[] };
      return sessions.every(({ state, activity }) => state !== "starting" && activity !== "working");
    },
    30_000,
  );
}

/** Nothing runs any more that was started for this person. */
async function expectNobodyOf(home: string): Promise<void> {
  const left = (): readonly number[] =>
    listProcesses()
      .filter((row) => !isDead(row) && readEnvironmentVariable(row.pid, "HOME") === home)
      .map((row) => row.pid);
  await eventually("nothing of the person is left", () => left().length === 0).catch(() => {
    const pids = left();
    const described = pids.map((pid) => `${pid} (${readCommandLine(pid)})`);
    for (const pid of pids) process.kill(pid, "SIGKILL");
    throw new Error(`left behind: ${described.join(", ")}`);
  });
}
