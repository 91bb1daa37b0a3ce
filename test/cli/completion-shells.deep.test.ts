/**
 * Completion in the real shells, interactive, at a terminal: none of them needs another package, sourcing
 * twice is harmless, paths complete where paths belong, and the tab key never runs what was typed.
 */
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { eventually } from "../support/eventually.ts";
import type { TestHome } from "../support/test-home.ts";
import { createTestHome, runProgram } from "../support/test-home.ts";

const ROOT = join(import.meta.dirname, "..", "..");
const PROMPT = "here% ";

interface ShellCase {
  readonly shell: "bash" | "zsh" | "fish";
  readonly argv: string;
  /** Typed first: a prompt that can be recognised. */
  readonly prompt: string;
  readonly source: string;
  /** Command substitution in the words before the one that is completed. */
  readonly traps: readonly ((file: string) => string)[];
}

const CASES: readonly ShellCase[] = [
  {
    shell: "bash",
    argv: "bash --norc --noprofile -i",
    prompt: `PS1='${PROMPT}'`,
    source: 'eval "$(reeve completion bash)"',
    traps: [(file) => `$(touch ${file})`, (file) => `\`touch ${file}\``, (file) => `"$(touch ${file})"`],
  },
  {
    shell: "zsh",
    argv: "zsh -f -i",
    prompt: `PS1='here%% '`,
    source: 'eval "$(reeve completion zsh)"',
    traps: [(file) => `$(touch ${file})`, (file) => `\`touch ${file}\``, (file) => `"$(touch ${file})"`],
  },
  {
    shell: "fish",
    argv: "fish --no-config --interactive",
    prompt: `set -g fish_autosuggestion_enabled 0; function fish_prompt; echo -n '${PROMPT}'; end`,
    source: "reeve completion fish | source",
    traps: [(file) => `(touch ${file})`, (file) => `$(touch ${file})`, (file) => `"$(touch ${file})"`],
  },
];

let home: TestHome;
let work = "";
beforeAll(async () => {
  home = createTestHome();
  work = join(home.dir, "work");
  mkdirSync(join(work, "sub dir"), { recursive: true });
  writeFileSync(join(work, "notes and plans.txt"), "");
  writeFileSync(join(work, "subfile"), "");
  await home.json("start", "practice", "--name", "helper");
});
afterAll(() => home.dispose());

describe.each(CASES)("$shell", (shellCase) => {
  const { shell } = shellCase;
  const terminal = (...args: readonly string[]) =>
    runProgram("tmux", ["-S", join(home.dir, `${shell}.sock`), "-f", "/dev/null", ...args], {
      ...home.environment,
      PATH: `${join(ROOT, "bin")}:${home.environment["PATH"] ?? ""}`,
    });
  const screen = async (): Promise<string> => (await terminal("capture-pane", "-p", "-J")).stdout;
  /** What stands after the last prompt. */
  const line = async (): Promise<string> => (await screen()).trimEnd().split(PROMPT.trimEnd()).at(-1)?.trim() ?? "";
  const type = (text: string) => terminal("send-keys", "-l", text);
  const press = (...keys: readonly string[]) => terminal("send-keys", ...keys);

  /** It shows its prompt, and nothing after it. */
  const isReady = () => eventually("the shell is ready", async () => /(?:^|\n)here%$/.test((await screen()).trimEnd()));

  async function enter(text: string): Promise<void> {
    await type(text);
    await press("Enter");
  }

  /** Types this on an empty line, presses Tab, and waits for what becomes of it. */
  async function completes(text: string, expected: string | RegExp): Promise<void> {
    await press("C-u");
    await eventually("the line is empty", async () => (await line()) === "");
    await type(text);
    await eventually(`${text} is typed`, async () => (await line()).endsWith(text.slice(-10)));
    await press("Tab");
    const found = async (): Promise<boolean> => {
      const now = await line();
      return typeof expected === "string" ? now === expected : expected.test(now);
    };
    await eventually(`${text} becomes ${String(expected)}`, found).catch(async (error: unknown) => {
      throw new Error(`${String(error)}, but:\n${await screen()}`);
    });
  }

  beforeAll(async () => {
    try {
      execFileSync("sh", ["-c", `command -v ${shell}`]);
    } catch {
      throw new Error(
        `${shell} is not installed: install it (sudo apt-get install ${shell}) to test completion in it.`,
      );
    }
    await terminal("new-session", "-d", "-x", "150", "-y", "40", "-c", work, shellCase.argv);
    await enter(shellCase.prompt);
    await isReady();
  });
  afterAll(() => terminal("kill-server"));
  beforeEach(() => press("C-u"));

  test("sourced twice, without a word", async () => {
    for (let time = 1; time <= 2; time++) {
      await enter("clear");
      await isReady();
      await enter(shellCase.source);
      await isReady();
      await eventually("it was run", async () => (await screen()).includes(shellCase.source.slice(0, 10)));
      expect((await screen()).split("\n").filter((text) => text !== "" && !text.startsWith(PROMPT.trimEnd()))).toEqual(
        [],
      );
    }
  });

  test("commands, sessions, options and their values", async () => {
    await completes("reeve expl", "reeve explain");
    await completes("reeve data hel", "reeve data helper");
    await completes("reeve wait helper --a", /--a(?:ny|ll|$)/);
    await completes("reeve send helper --st", "reeve send helper --steer");
    await completes("reeve end helper --when a", "reeve end helper --when after-turn");
    await completes("reeve end helper --when=a", "reeve end helper --when=after-turn");
    await completes("reeve daemon stat", "reeve daemon status");
  });

  /** As each shell writes a blank in a word. */
  const blank = String.raw`(?:\\ | )`;
  const quote = `["']?`;

  test("paths, where an option takes one and after --", async () => {
    await completes(
      "reeve send helper --file no",
      new RegExp(`--file ${quote}notes${blank}and${blank}plans\\.txt${quote}$`),
    );
    await completes(
      "reeve send helper --file=no",
      new RegExp(`--file=${quote}notes${blank}and${blank}plans\\.txt${quote}$`),
    );
    await completes("reeve start practice --cwd su", new RegExp(`--cwd ${quote}sub${blank}dir/${quote}$`));
    await completes(
      "reeve start command -- ./no",
      new RegExp(`-- ${quote}\\./notes${blank}and${blank}plans\\.txt${quote}$`),
    );
    await completes(`reeve start command --env-file ${work}/subf`, new RegExp(`${work}/subfile$`));
  });

  test("no path where none belongs", async () => {
    await press("C-u");
    await type("reeve data subf");
    await press("Tab");
    await type("X");
    await eventually("the tab key was handled", async () => (await line()).endsWith("X"));
    expect(await line()).toBe("reeve data subfX");
  });

  test("what was typed is not run", async () => {
    const files: string[] = [];
    const trapped = (trap: (file: string) => string): string => {
      const file = join(work, `ran-${files.length}`);
      files.push(file);
      return trap(file);
    };
    const tabAfter = async (text: string): Promise<void> => {
      await press("C-u");
      await type(text);
      await press("Tab");
      await type("X");
      await eventually("the tab key was handled", async () => (await line()).endsWith("X"));
    };
    const [first = String] = shellCase.traps;
    await completes(`reeve send ${trapped(first)} --st`, /--steer$/);
    for (const trap of shellCase.traps) {
      await tabAfter(`reeve send ${trapped(trap)} --st`);
      // Of the word itself zsh's own tab key expands what stands there, before anybody is asked to complete.
      if (shell === "zsh") continue;
      for (const before of ["reeve data ", "reeve send helper --file ", "reeve start command -- "])
        await tabAfter(`${before}${trapped(trap)}`);
    }
    expect(files.filter((file) => existsSync(file))).toEqual([]);
  });
});
