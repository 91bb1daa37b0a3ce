/**
 * Attached from inside a tmux of one's own: the keys that are shown leave the session, not the outer tmux.
 * Three real servers: one plays the person's keyboard and screen, one is the person's own tmux, one is Reeve's.
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { eventually } from "../support/eventually.ts";
import type { TestHome } from "../support/test-home.ts";
import { createTestHome, runProgram } from "../support/test-home.ts";

const REEVE = join(import.meta.dirname, "..", "..", "bin", "reeve");

let home: TestHome;
beforeAll(async () => {
  home = createTestHome();
  await home.json("start", "practice", "--name", "helper");
});
afterAll(() => home.dispose());

const tmux = (socket: string, ...args: readonly string[]) =>
  runProgram("tmux", ["-S", join(home.dir, socket), ...args], home.environment);

/** A terminal with this program in it. */
const open = (socket: string, program: string) =>
  tmux(socket, "-f", "/dev/null", "new-session", "-d", "-x", "110", "-y", "32", program);

interface Person {
  screen(): Promise<string>;
  /** One after the other, as a person does: tmux takes keys that come within a millisecond for a paste. */
  press(...keys: readonly string[]): Promise<void>;
  type(text: string): Promise<void>;
  /** Of the person's own tmux. */
  clients(): Promise<readonly string[]>;
}

let count = 0;

async function nested(config: string, act: (person: Person) => Promise<void>): Promise<void> {
  count += 1;
  // Sockets of their own: a server that was told to end may still take the next one's first call.
  const [keyboard, own, file] = [
    `keyboard-${count}.sock`,
    `outer-${count}.sock`,
    join(home.dir, `outer-${count}.conf`),
  ];
  writeFileSync(file, config);
  const outer = `tmux -S '${join(home.dir, own)}' -f '${file}'`;
  const inside = `'${REEVE}' attach helper; echo left with $?; exec sleep 600`;
  try {
    await open(keyboard, `env -u TMUX ${outer} new-session "${inside}"`);
    await act({
      screen: async () => (await tmux(keyboard, "capture-pane", "-p")).stdout,
      async press(...keys) {
        for (const key of keys) await tmux(keyboard, "send-keys", key);
      },
      async type(text) {
        await tmux(keyboard, "send-keys", "-l", text);
      },
      clients: async () => (await tmux(own, "list-clients")).stdout.trim().split("\n"),
    });
  } finally {
    await tmux(own, "kill-server");
    await tmux(keyboard, "kill-server");
  }
}

test.each([
  ["as it comes: C-b is its prefix too", "", "C-b C-b d"],
  ["with C-a as its prefix", "set -g prefix C-a\nunbind C-b\nbind C-a send-prefix\n", "C-b d"],
  ["with another key that passes the prefix on", "unbind C-b\nbind b send-prefix\n", "C-b b d"],
  ["with C-b as its second prefix", "set -g prefix C-a\nset -g prefix2 C-b\nbind x send-prefix -2\n", "C-a x d"],
])("%s", async (_what, config, keys) => {
  await nested(config, async ({ screen, press, clients }) => {
    const shown = await eventually("the session is shown, with the keys that leave it", async () => {
      const found = /detach: (.+?) *$/m.exec(await screen());
      return (await screen()).includes("Practice agent") && found?.[1];
    });
    expect(shown).toBe(keys);
    await press(...shown.split(" "));
    await eventually("it was left", async () => (await screen()).includes("left with 0"));
    expect(await clients()).toHaveLength(1);
    expect(await home.session("helper")).toMatchObject({ state: "running" });
  });
});

test("the keys of one terminal are not shown in another, nor kept for whoever has it next", async () => {
  await nested("", async ({ screen }) => {
    await eventually("the nested one", async () => (await screen()).includes("detach: C-b C-b d"));
    await open("plain.sock", `env -u TMUX '${REEVE}' attach helper`);
    try {
      await eventually("the plain one", async () =>
        /detach: C-b d *$/m.test((await tmux("plain.sock", "capture-pane", "-p")).stdout),
      );
      expect(await screen()).toContain("detach: C-b C-b d");
    } finally {
      await tmux("plain.sock", "kill-server");
    }
  });
  const { argv, detach } = await home.json<{ argv: string[]; detach: string }>("attach", "helper");
  expect(detach).toBe("C-b d");
  // What is remembered of the terminal is forgotten by whoever attaches in it next.
  expect(argv.join(" ")).toMatch(/set-option -sF @reeve-detach-keys #\{s\|<#\{client_tty\}=/);
});

test("a tmux that passes C-b on by no key: said before, with what to do", async () => {
  await nested("unbind C-b\n", async ({ screen, press, type }) => {
    await eventually("the status line says so", async () => (await screen()).includes("your tmux keeps C-b"));
    await press("C-b", ":");
    await type("bind C-b send-prefix");
    await press("Enter");
    await press("C-b", "C-b", "d");
    await eventually("it was left", async () => (await screen()).includes("left with 0"));
    // The terminal is narrower than the sentence, which is broken where its line ends, also within a word.
    const said = "bindonefirstwith:tmuxbindC-bsend-prefix";
    await eventually("it was said before", async () => (await screen()).replaceAll(/\s+/g, "").includes(said));
  });
});
