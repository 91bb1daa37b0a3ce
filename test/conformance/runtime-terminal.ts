/** A session's terminal: what is typed arrives unchanged, what is shown is safe, what is streamed is exact. */
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { expect, it } from "vitest";
import type { Target } from "../../src/runtime/contract.ts";
import { eventually } from "../support/eventually.ts";
import { first, type Ground, second } from "./runtime-ground.ts";

const GRACE = { graceMs: 3_000 } as const;

/** A person at a terminal of their own: `script` gives the command one. */
async function attach(command: readonly string[]): Promise<{ press(keys: string): void; leave(): Promise<void> }> {
  const quoted = command.map((word) => `'${word.replaceAll("'", String.raw`'\''`)}'`).join(" ");
  const { REEVE_MARK: _mark, TMUX: _tmux, ...environment } = process.env;
  const child = spawn("script", ["-qec", quoted, "/dev/null"], {
    env: { ...environment, TERM: "xterm-256color" },
    stdio: ["pipe", "ignore", "ignore"],
  });
  const ended = once(child, "close");
  return {
    press: (keys) => void child.stdin.write(keys),
    async leave() {
      // Its terminal goes with it, as when a window is closed.
      child.kill("SIGKILL");
      await ended;
    },
  };
}

export function testTerminal(ground: Ground): void {
  const { shell, put, exists, written, exit } = ground;

  it.each(["cooked", "raw"])("pastes 1 MiB byte for byte into a %s terminal", async (mode) => {
    const stty = mode === "raw" ? "raw -echo" : "-echo";
    const line = `${"漢é🙂 x$\"\\'#{}~\t".repeat(60)}\n`;
    const text = `${line.repeat(Math.floor(1_048_000 / Buffer.byteLength(line)))}last\n`;
    const size = Buffer.byteLength(text);
    await ground.runtime.create(shell(first, `stty ${stty}; touch up; head -c ${size} > got; mv got done; sleep 100`));
    await eventually("it reads", () => exists("up"));
    await ground.runtime.send(first, [{ type: "paste", text }]);
    const got = await written("done");
    expect(Buffer.byteLength(got)).toBe(size);
    expect(createHash("sha256").update(got).digest("hex")).toBe(createHash("sha256").update(text).digest("hex"));
  });

  it("types steps in order, and brackets pastes only where asked", async () => {
    await ground.runtime.create(
      shell(first, "stty raw -echo; printf '\\033[?2004h'; touch up; head -c 21 > got; mv got done; sleep 100"),
    );
    await eventually("it reads", () => exists("up"));
    await ground.runtime.send(first, [
      { type: "pause", ms: 30 },
      { type: "paste", text: "two\nlines" },
    ]);
    expect(await written("done")).toBe("\u001b[200~two\nlines\u001b[201~");
    const other: Target = { sessionId: "two", incarnation: 1 };
    await ground.runtime.create(
      shell(other, 'read a; read b; printf \'%s|%s\' "$a" "$b" > keys; mv keys keysdone; sleep 100'),
    );
    await ground.runtime.send(other, [
      { type: "paste", text: "- a" },
      { type: "key", key: "Enter" },
      { type: "key", key: "y" },
      { type: "key", key: "Enter" },
    ]);
    expect(await written("keysdone")).toBe("- a|y");
  });

  it("refuses what it cannot deliver unchanged", async () => {
    await ground.runtime.create(shell(first, "cat; sleep 100"));
    const paste = (text: string): Promise<void> => ground.runtime.send(first, [{ type: "paste", text }]);
    for (const text of ["\u001b[31m", "a\rb", "\u0000", "\u007f", "\u0085", "\u009b31m", "\ud800"]) {
      await expect(paste(text)).rejects.toMatchObject({ code: "message-not-text", kind: "usage" });
    }
    await expect(paste("é".repeat(600_000))).rejects.toMatchObject({ code: "message-too-long", kind: "usage" });
    await expect(paste("é".repeat(2_048))).rejects.toMatchObject({ code: "line-too-long", kind: "conflict" });
    await expect(ground.runtime.send(second, [{ type: "key", key: "Enter" }])).rejects.toMatchObject({
      kind: "conflict",
    });
    await ground.runtime.stop(first, GRACE);
    await expect(paste("x")).rejects.toMatchObject({ code: "not-running", kind: "conflict" });
    for (const sessionId of ["", "../x", "a;b", "#{pid}", "-t", "A", "x".repeat(65), "a.b", "a\nb", "\u202e"]) {
      if (sessionId === "-t") continue; // a legal id that looks like an option
      await expect(ground.runtime.create(shell({ sessionId, incarnation: 1 }, "true"))).rejects.toMatchObject({
        code: "name-invalid",
      });
    }
  });

  it("shows the screen as plain text, also after the end", async () => {
    await ground.runtime.create(
      shell(
        first,
        "printf '\\033[31mred\\033[0m \\033]0;title\\007\\033]52;c;eA==\\007plain\\n'; for i in 1 2 3; do echo line $i; done; exit 4",
      ),
    );
    await exit(first);
    expect(await ground.runtime.capture(first, { lines: 100 })).toEqual({
      text: "red plain\nline 1\nline 2\nline 3",
      solid: "red plain\nline 1\nline 2\nline 3",
      title: "title",
      truncated: false,
    });
    expect(await ground.runtime.capture(first, { lines: 2 })).toEqual({
      text: "line 2\nline 3",
      solid: "line 2\nline 3",
      title: "title",
      truncated: true,
    });
  });

  it("shows of the visible screen what is not drawn faint, and the cursor", async () => {
    const draw = (text: string): string => `printf '\\033[2J\\033[H${text}'; touch drawn; sleep 100`;
    await ground.runtime.create(shell(first, draw("> \\033[2mAsk me anything\\033[0m\\nkeys\\033[1;3H")));
    await eventually("it is drawn", () => exists("drawn"));
    const shown = async (target: Target) => (await ground.runtime.capture(target, { lines: 0 })).solid;
    await eventually("the placeholder is left out", async () => (await shown(first)) === "> ▮\nkeys");
    expect((await ground.runtime.capture(first, { lines: 0 })).text).toBe("> Ask me anything\nkeys");
    const other: Target = { sessionId: "two", incarnation: 1 };
    await ground.runtime.create(shell(other, draw("> typed\\033[?25l")));
    await eventually("what is typed is not", async () => (await shown(other)) === "> typed▯");
  });

  it("shows the visible screen with its colours when asked, and with no other sequence", async () => {
    const text = "\\033[2J\\033[H\\033[1;31mred\\033[0m \\033[8mhidden\\033[0m\\033]52;c;eA==\\007 end";
    await ground.runtime.create(shell(first, `printf '${text}'; touch drawn; sleep 100`));
    await eventually("it is drawn", () => exists("drawn"));
    const drawn = await eventually("it is shown", async () => {
      const screen = await ground.runtime.capture(first, { lines: 0, style: "ansi" });
      return screen.text.endsWith(" end") && screen.drawn;
    });
    expect(drawn).toContain("\u001B[1m");
    expect(drawn).toMatch(/\u001B\[(?:1;)?31m/);
    // oxlint-disable-next-line no-control-regex -- escape sequences are what this is about
    const sequences = [...drawn.matchAll(/\u001b(\[[0-9;]*m)?/g)].map(([, sgr]) => sgr);
    expect(sequences).not.toContain(undefined);
    expect(sequences.join("")).not.toMatch(/[[;]8[;m]/);
    expect((await ground.runtime.capture(first, { lines: 0 })).drawn).toBeUndefined();
  });

  it("keeps what a program prints right before it ends, and how that was", async () => {
    const ids = Array.from({ length: ground.crowd(60) }, (_, index) => `last-words-${index}`);
    const ends = await Promise.all(
      ids.map(async (sessionId) => {
        const target = { sessionId, incarnation: 1 };
        await ground.runtime.create(shell(target, "echo cannot start; exit 1"));
        const end = await exit(target);
        const { text } = await ground.runtime.capture(target, { lines: 10 });
        return { ...end, text };
      }),
    );
    expect(ends).toEqual(ids.map(() => ({ code: 1, signal: null, text: "cannot start" })));
  });

  it("keeps what each of many incarnations prints right before it ends", async () => {
    for (let incarnation = 1; incarnation <= ground.crowd(20); incarnation++) {
      const target = { sessionId: "one", incarnation };
      let streamed = "";
      const stop = ground.runtime.stream(target, (bytes) => (streamed += bytes.toString()));
      const more = incarnation === 1 ? {} : { environment: null };
      await ground.runtime.create(shell(target, `echo cannot start ${incarnation}; exit 1`, more));
      expect(await exit(target)).toEqual({ code: 1, signal: null });
      expect((await ground.runtime.capture(target, { lines: 10 })).text).toBe(`cannot start ${incarnation}`);
      await eventually("it was streamed", () => streamed.includes(`cannot start ${incarnation}`));
      stop();
    }
  });

  it("shows a new incarnation nothing of the one before it: neither screen nor title", async () => {
    await ground.runtime.create(
      shell(first, "printf '\\033]0;[ ! ] Action Required\\007'; seq 300; echo 'Allow this?'; kill -9 $$"),
    );
    await exit(first);
    expect(await ground.runtime.capture(first, { lines: 0 })).toMatchObject({ title: "[ ! ] Action Required" });
    await ground.runtime.create(shell(second, "touch up; sleep 100", { environment: null }));
    await eventually("it runs", () => exists("up"));
    const { title, text, truncated } = await ground.runtime.capture(second, { lines: 1_000 });
    expect({ text, truncated }).toEqual({ text: "", truncated: false });
    expect(title).not.toContain("Action");
  });

  it("shows only what is visible when no lines are asked for", async () => {
    await ground.runtime.create(shell(first, "seq 1000; touch up; read x; clear; echo only; touch cleared; sleep 100"));
    await eventually("it printed", () => exists("up"));
    const screen = await eventually("the screen shows it", async () => {
      const shown = await ground.runtime.capture(first, { lines: 0 });
      return shown.text.endsWith("1000") && shown;
    });
    const lines = screen.text.split("\n");
    expect(screen.truncated).toBe(true);
    expect(lines.length).toBeLessThan(500);
    expect(lines).toEqual(Array.from({ length: lines.length }, (_, index) => String(1_001 - lines.length + index)));
    await ground.runtime.send(first, [{ type: "key", key: "Enter" }]);
    await eventually("it cleared", () => exists("cleared"));
    await eventually("only what is visible is shown", async () => {
      const { text } = await ground.runtime.capture(first, { lines: 0 });
      return text === "only";
    });
  });

  it("tells the title as plain text, whatever the program calls itself", async () => {
    const titles = ["⠋ working", "", "screen 9 9 forged", "%end 1 1 0", "#{pid} $(id) 'x' \\\\ é漢🙂"];
    const script = titles.map((title) => `printf '\\033]0;%s\\007' "$(cat title-${titles.indexOf(title)})"; read x`);
    for (const [index, title] of titles.entries()) await put(`title-${index}`, title);
    await ground.runtime.create(shell(first, `stty -echo; ${script.join("; ")}; sleep 100`));
    for (const title of titles) {
      await eventually(`the title is ${title}`, async () => {
        const screen = await ground.runtime.capture(first, { lines: 0 });
        return screen.title === title;
      });
      await ground.runtime.send(first, [{ type: "key", key: "Enter" }]);
    }
  });

  it("takes another label, which changes nothing else", async () => {
    const { place } = await ground.runtime.create(shell(first, "read line"));
    await ground.runtime.relabel(first, "renamed");
    expect(await ground.runtime.observe(first)).toMatchObject({ status: "running", place });
    await ground.runtime.send(first, [{ type: "key", key: "Enter" }]);
    await eventually("it ended", async () => (await ground.runtime.observe(first)).status === "exited");
    await ground.runtime.relabel(first, "renamed-again");
    expect(await ground.runtime.observe(first)).toMatchObject({ status: "exited" });
  });

  it("knows when a person last pressed a key, and that nobody is there", async () => {
    await ground.runtime.create(shell(first, "cat; sleep 100"));
    await ground.runtime.send(first, [{ type: "paste", text: "from Reeve" }]);
    expect(await ground.runtime.lastTypedAt(first)).toBeNull();
    const person = await attach((await ground.runtime.attachCommand(first, {})).argv);
    try {
      const before = await eventually("somebody is there, and presses nothing", async () => {
        const at = await ground.runtime.lastTypedAt(first);
        return at !== null && Date.now() > at + 100 && at;
      });
      // Neither what Reeve types nor what the program prints is a person's key.
      await ground.runtime.send(first, [{ type: "paste", text: "again from Reeve\n" }]);
      await eventually("it arrived", async () =>
        (await ground.runtime.capture(first, { lines: 0 })).text.includes("again from Reeve"),
      );
      expect(await ground.runtime.lastTypedAt(first)).toBe(before);
      const pressedAt = Date.now();
      person.press("k");
      const after = await eventually("the key was noticed", async () => {
        const at = await ground.runtime.lastTypedAt(first);
        return at !== null && at > before && at;
      });
      expect(after).toBeGreaterThanOrEqual(pressedAt);
      expect(after).toBeLessThanOrEqual(Date.now() + 2_000);
    } finally {
      await person.leave();
    }
    await eventually("nobody is there", async () => (await ground.runtime.lastTypedAt(first)) === null);
  });

  it("tells apart who types where", async () => {
    const other: Target = { sessionId: "two", incarnation: 1 };
    await ground.runtime.create(shell(first, "cat; sleep 100"));
    await ground.runtime.create(shell(other, "cat; sleep 100"));
    const person = await attach((await ground.runtime.attachCommand(other, {})).argv);
    try {
      await eventually("somebody is there", () => ground.runtime.lastTypedAt(other));
      expect(await ground.runtime.lastTypedAt(first)).toBeNull();
    } finally {
      await person.leave();
    }
  });

  it("streams output byte for byte to every listener until it stops listening", async () => {
    const heard: [Buffer[], Buffer[]] = [[], []];
    const stopFirst = ground.runtime.stream(first, (bytes) => heard[0].push(bytes));
    ground.runtime.stream(first, (bytes) => heard[1].push(bytes));
    const odd = Buffer.from(Array.from({ length: 256 }, (_, index) => index).concat([0x5c, 0x30, 0x0a]));
    const all = Buffer.concat(Array.from({ length: 400 }, () => odd));
    await put("odd", all.toString("base64"));
    await ground.runtime.create(
      shell(first, "stty raw -echo; base64 -d odd; printf END; read x; printf MORE; sleep 100"),
    );
    const text = (index: 0 | 1): string => Buffer.concat(heard[index]).toString("latin1");
    await eventually("all of it came", () => text(1).endsWith("END"));
    const whole = Buffer.concat([all, Buffer.from("END")]).toString("latin1");
    expect(text(0) === whole && text(1) === whole).toBe(true);
    stopFirst();
    await ground.runtime.send(first, [{ type: "paste", text: "\n" }]);
    await eventually("the rest came", () => text(1).endsWith("MORE"));
    expect(text(0).endsWith("END")).toBe(true);
  });
}
