/** An agent that only config.toml knows: a program that prints, and patterns that say what its screen means. */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { askSession } from "../support/ask-daemon.ts";
import { eventually } from "../support/eventually.ts";
import { inHome } from "../support/in-home.ts";
import { pressInPane } from "../support/pane.ts";
import type { EventRow, TestHome } from "../support/test-home.ts";

/**
 * Six homes at once, and two dozen commands in each: on a machine with twenty
 * others at work each command takes seconds. These are for what never comes.
 */
const PATIENCE_MS = 60_000;
vi.setConfig({ testTimeout: 240_000 });

/**
 * Prints `ready>`, on input `working...` until a file called like the first
 * word appears, then its answer. `ask …` asks first; `leave` ends it.
 */
const PROGRAM = `#!/bin/sh
printf 'A small program\\nready>'
while read -r word rest; do
  echo "$word $rest" >> received
  [ "$word" = leave ] && exit 3
  printf 'working...'
  until [ -e "$word" ]; do sleep 0.05; done
  printf '\\r\\033[K'
  if [ "$word" = ask ]; then
    printf 'Continue? (y/n)'
    read -r answer
    echo "answered $answer" >> received
    printf 'working...'
    until [ -e "after-$word" ]; do sleep 0.05; done
    printf '\\r\\033[K'
  fi
  printf 'did %s %s\\nready>' "$word" "$rest"
done
`;

/** The program in a home, and what the tests do with it. */
function fakeIn(home: TestHome) {
  const program = join(home.dir, "fake-agent");
  writeFileSync(program, PROGRAM, { mode: 0o755 });
  const table = `[agent.fake]
command = ["${program}"]
ready = '^ready>$'
working = '^working\\.\\.\\.$'
waiting = '^Continue\\? \\(y/n\\)$'
`;
  home.configure(table);
  return {
    table,
    /** The next `working...` with this word goes on. */
    allow: (word: string): void => writeFileSync(join(home.dir, word), ""),
    received: (): readonly string[] => readFileSync(join(home.dir, "received"), "utf8").trimEnd().split("\n"),
    start: (prompt: string): Promise<unknown> =>
      home.json("start", "fake", "--name", "fake", "--cwd", home.dir, prompt),
    async becomes(activity: string): Promise<void> {
      await eventually(
        `it is ${activity}`,
        async () => {
          const session = await askSession(home, "fake");
          if (session === null) await home.json("daemon", "start");
          return session?.["activity"] === activity;
        },
        PATIENCE_MS,
      );
    },
    async typesOf(prefix: string): Promise<readonly string[]> {
      const { events } = await home.json<{ events: EventRow[] }>("events", "fake");
      return events.map((event) => event.type).filter((type) => type.startsWith(prefix));
    },
    wait: (since: number): Promise<{ readonly reason: string; readonly cursor: number }> =>
      home.json("wait", "fake", "--since", String(since), "--timeout", "60"),
  };
}

test.concurrent("its prompt is its first message; turns, questions and its exit wake who waits, messages queue", () =>
  inHome("", async (home) => {
    const { allow, received, start, becomes, typesOf, wait } = fakeIn(home);
    await start("one first task");
    await becomes("working");
    expect(received()).toEqual(["one first task"]);
    const { message_id } = await home.json<{ message_id: string }>("send", "fake", "ask second task", "--timeout", "0");
    expect(await home.session("fake")).toMatchObject({ turns: 1, turn_open: true, watched_by: "screen" });

    allow("one");
    const first = await wait(0);
    expect(first.reason).toBe("turn-completed");
    await eventually("the second is taken", () => received().length === 2, PATIENCE_MS);
    expect(received()).toEqual(["one first task", "ask second task"]);
    await becomes("working");
    expect((await home.events()).find((event) => event.data["message_id"] === message_id)).toBeDefined();

    allow("ask");
    const second = await wait(first.cursor);
    expect(second.reason).toBe("awaiting-input");
    expect(await home.session("fake")).toMatchObject({ activity: "awaiting-input", asks: "Continue? (y/n)", turns: 2 });
    await home.json("send", "fake", "y");
    await eventually("the answer is taken", () => received().at(-1) === "answered y", PATIENCE_MS);
    allow("after-ask");
    const third = await wait(second.cursor);
    expect(third.reason).toBe("turn-completed");
    expect(await typesOf("turn-")).toEqual(["turn-started", "turn-completed", "turn-started", "turn-completed"]);
    expect(await home.session("fake")).toMatchObject({ turns: 2, activity: "idle", asks: null });
    const data = await home.json<{ source: string; text: string }>("data", "fake");
    expect(data.source).toBe("screen");
    expect(data.text).toContain("did one first task");

    await home.json("send", "fake", "leave");
    expect((await wait(third.cursor)).reason).toBe("exited");
    expect(await home.session("fake")).toMatchObject({ state: "error", exit: { code: 3, signal: null } });
    expect(await typesOf("message-delivered")).toHaveLength(4);
  }));

test.concurrent("a restart of the daemon in the middle of a turn counts no turn twice", () =>
  inHome("", async (home) => {
    const { allow, received, start, becomes, typesOf } = fakeIn(home);
    await start("one first task");
    await becomes("working");
    await home.killDaemon();
    await home.json("send", "fake", "two second task", "--timeout", "0");
    allow("one");
    await eventually("the second is taken", () => received().length === 2, PATIENCE_MS);
    await becomes("working");
    await home.killDaemon();
    await becomes("working");
    allow("two");
    await becomes("idle");
    expect(await typesOf("turn-")).toEqual(["turn-started", "turn-completed", "turn-started", "turn-completed"]);
    expect(received()).toEqual(["one first task", "two second task"]);
  }));

test.concurrent("a bad pattern makes its agent unusable, and nothing else", () =>
  inHome("", async (home) => {
    const { allow, start, becomes, table } = fakeIn(home);
    await start("one first task");
    await becomes("working");
    const other = "[agent.other]\ncommand = ['cat']\nready = 'x'\n";
    home.configure(`${table.replace("^ready>$", "(?=ready)")}${other}`);
    await home.killDaemon();
    expect(await home.session("fake")).toMatchObject({ state: "running", liveness: "running" });
    const says =
      /^\[agent\.fake\] of config\.toml is not right: ready "\(\?=ready\)" is not a pattern: there is no lookahead/;
    const refused = await home.run(["start", "fake", "--name", "second", "--cwd", home.dir, "x", "--json"]);
    expect(refused.status).toBe(78);
    expect(JSON.parse(refused.stdout)).toMatchObject({
      error: { code: "config-invalid", message: expect.stringMatching(says) },
    });
    const { warnings } = await home.json<{ warnings: readonly string[] }>("daemon", "status");
    expect(warnings).toContainEqual(expect.stringMatching(says));
    await home.json("start", "other", "--name", "other", "--cwd", home.dir);
    expect(await home.session("other")).toMatchObject({ agent: "other" });
    allow("one");
    await home.json("end", "fake", "--when", "now");
    home.configure(`${table}${other}`);
    await home.killDaemon();
    await home.json("start", "fake", "--name", "third", "--cwd", home.dir, "one more");
    const isIdle = async () => (await askSession(home, "third"))?.["activity"] === "idle";
    await eventually("it works again", isIdle, PATIENCE_MS);
  }));

test.concurrent("a pattern and a screen that would never end in another engine keep nobody waiting", () =>
  inHome("", async (home) => {
    const program = join(home.dir, "hostile-agent");
    const hostile = `${"a".repeat(150)}!`;
    writeFileSync(program, `#!/bin/sh\nfor i in 1 2 3 4 5 6; do echo ${hostile}; done\nexec cat\n`, { mode: 0o755 });
    home.configure(`[agent.hostile]\ncommand = ["${program}"]\nready = "^(a+)+$"\nworking = "^(a|a)+b$"\n`);
    await home.json("start", "hostile", "--name", "hostile", "--cwd", home.dir);
    await eventually(
      "it is on the screen",
      async () => (await home.json<{ text: string }>("data", "hostile")).text.includes(hostile.slice(0, 60)),
      PATIENCE_MS,
    );
    /** Something new makes the daemon look again. */
    const look = async (word: string): Promise<void> => {
      await pressInPane(home, (await home.session("hostile")).session_id, "x", "Enter");
      await home.json("start", "command", "--name", word, "--", "sleep", "300");
      const runs = async () => (await askSession(home, word))?.["state"] === "running";
      await eventually("it runs", runs, PATIENCE_MS);
    };
    await look("first");
    await home.killDaemon();
    await look("second");
    // A line that fits is found, so the screen is really read.
    await pressInPane(home, (await home.session("hostile")).session_id, "aaa", "Enter");
    const isReady = async () => (await askSession(home, "hostile"))?.["activity"] === "idle";
    await eventually("it is ready", isReady, PATIENCE_MS);
  }));

test.concurrent("what is wrong with its table is said in a sentence, and it is not started until that is mended", () =>
  inHome("", async (home) => {
    const { table } = fakeIn(home);
    const wrong: readonly (readonly [string, RegExp])[] = [
      ["[agent.fake]\nready = '^ready>'\n", /\[agent\.fake\].*command is missing/],
      ["[agent.fake]\ncommand = 'true'\nreadyy = 'x'\n", /no setting readyy, only ready, working, waiting/],
      ["[agent.fake]\ncommand = [1]\n", /\[agent\.fake\] command must be/],
      ["[agent.Fake]\ncommand = 'true'\n", /an agent's name is made of/],
    ];
    for (const [toml, says] of wrong) {
      home.configure(toml);
      await home.run(["daemon", "stop"]);
      const { status, stdout } = await home.run(["start", "fake", "--cwd", home.dir, "--json"]);
      expect(status, toml).toBe(78);
      const { error } = JSON.parse(stdout) as { error: { code: string; message: string } };
      expect(error.code).toBe("config-invalid");
      expect(error.message).toMatch(says);
      expect(error.message).toMatch(/^[^\n]+\.$/);
    }
    home.configure(table);
    await home.run(["daemon", "stop"]);
    expect((await home.run(["start", "fake", "--cwd", home.dir])).status).toBe(0);
  }));

test.concurrent("the user's rules come first and may change while it runs; a broken file is logged and left out", () =>
  inHome("", async (home) => {
    const { allow, received, start, becomes } = fakeIn(home);
    mkdirSync(join(home.dir, "rules"));
    const write = (text: string): void => writeFileSync(join(home.dir, "rules", "fake.toml"), text);
    const rule = (name: string, screen: string, asks: string): string =>
      `[[rule]]\nname = "${name}"\nscreen = '${screen}'\nactivity = "awaiting-input"\nasks_text = "${asks}"\n`;
    write(rule("working", "^working", "May it work?"));
    await start("one first task");
    await becomes("awaiting-input");
    const { session_id, asks, turns } = await home.session("fake");
    expect({ asks, turns }).toEqual({ asks: "May it work?", turns: 0 });
    /** A blank makes the terminal show something, so that it is looked at. */
    const onceLookedAt = (what: string, holds: () => Promise<boolean> | boolean): Promise<unknown> =>
      eventually(
        what,
        async () => {
          await pressInPane(home, session_id, "Space");
          return holds();
        },
        PATIENCE_MS,
      );

    write("[[rule]]\nname = 'waiting'\nscreen = '('\n");
    allow("one");
    const log = (): string => readFileSync(join(home.dir, "daemon.log"), "utf8");
    await onceLookedAt("the broken file is noticed", () => log().includes("screen rules are not right"));
    await becomes("idle");
    await home.json("send", "fake", "two second task");
    await becomes("working");

    write(rule("extra", "^ready>$", "What next?"));
    allow("two");
    await onceLookedAt("the new rule counts", async () => (await askSession(home, "fake"))?.["asks"] === "What next?");
    expect(received()).toEqual(["one first task", "two second task"]);
    expect(log().split("screen rules are not right")).toHaveLength(2);
    expect((await home.events()).filter((event) => event.type === "daemon-started")).toHaveLength(1);
  }));
