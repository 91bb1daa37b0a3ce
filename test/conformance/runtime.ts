/**
 * What every runtime must do, whatever it is made of. A runtime's own test file
 * calls `describeRuntime` with a way to make one on private ground.
 */
import { createHash } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  isAlive,
  isStopped,
  listProcesses,
  readEnvironmentVariable,
  readProcess,
} from "../../src/platform/process-table.ts";
import {
  type CreateRequest,
  formatMark,
  MARK_VARIABLE,
  type Runtime,
  type Target,
} from "../../src/runtime/contract.ts";
import { eventually } from "./eventually.ts";

export interface RuntimeFixture {
  readonly runtime: Runtime;
  readonly instance: string;
  /** A directory that sessions can read and write under the same path. */
  readonly workDir: string;
  /** A second runtime object over the same ground, as a new daemon would make it. */
  reopen(): Runtime;
  /** Ends everything; the suite then looks for leftovers. */
  dispose(): Promise<void>;
}

const GRACE = { graceMs: 3_000 } as const;
const BASE = { PATH: process.env["PATH"] ?? "/usr/bin:/bin", LANG: "C.UTF-8" };

export function describeRuntime(name: string, makeFixture: () => Promise<RuntimeFixture>): void {
  describe(`${name} holds the runtime contract`, { timeout: 30_000 }, () => {
    let fixture: RuntimeFixture;
    let runtime: Runtime;
    beforeEach(async () => {
      fixture = await makeFixture();
      runtime = fixture.runtime;
    });
    afterEach(async () => {
      await fixture.dispose();
      expect(markedProcesses(fixture.instance)).toEqual([]);
    });

    const request = (target: Target, argv: readonly string[], more: Partial<CreateRequest> = {}): CreateRequest => ({
      ...target,
      argv,
      cwd: fixture.workDir,
      environment: BASE,
      extraEnvironment: {},
      label: "label",
      ...more,
    });
    const shell = (target: Target, script: string, more: Partial<CreateRequest> = {}): CreateRequest =>
      request(target, ["sh", "-c", script], more);
    const path = (file: string): string => join(fixture.workDir, file);
    const written = (file: string): Promise<string> =>
      eventually(`${file} is written`, () => existsSync(path(file)) && readFileSync(path(file), "utf8"));
    const exit = (target: Target): Promise<object> =>
      eventually("it exited", async () => {
        const observation = await runtime.observe(target);
        return observation.status === "exited" && { code: observation.code, signal: observation.signal };
      });

    it("lists nothing, and starts nothing, on untouched ground", async () => {
      expect(await runtime.list()).toMatchObject({ reachable: true, entries: [] });
      expect(await runtime.observe(first)).toMatchObject({ status: "absent" });
      expect(await runtime.retainsEnvironment("one")).toBe(false);
    });

    it("creates once per incarnation", async () => {
      const [a, b] = await Promise.all([
        runtime.create(shell(first, "sleep 100")),
        runtime.create(shell(first, "sleep 100")),
      ]);
      const again = await fixture.reopen().create(shell(first, "sleep 100"));
      expect([a.isNew, b.isNew, again.isNew].toSorted()).toEqual([false, false, true]);
      expect(b.place).toEqual(a.place);
      expect(again.place).toEqual(a.place);
      expect(isAlive(a.place.pid, a.place.startTicks)).toBe(true);
      expect(await runtime.observe(first)).toMatchObject({ status: "running", place: a.place });
      expect(await runtime.list()).toMatchObject({ entries: [{ ...first, observation: { status: "running" } }] });
    });

    it("refuses a new incarnation while an older one runs", async () => {
      await runtime.create(shell(first, "sleep 100"));
      await expect(runtime.create(shell(second, "sleep 100"))).rejects.toMatchObject({ code: "still-running" });
      await expect(runtime.destroy(first)).rejects.toMatchObject({ code: "still-running" });
    });

    it("gives exactly the environment asked for", async () => {
      const many = Object.fromEntries(
        Array.from({ length: 300 }, (_, index) => [`VARIABLE_${index}`, `value ${index}`]),
      );
      const odd = { ODD: "a b\n\"'$HOME #{pid} ; \\ ~ é\t", EMPTY: "", SHELL: "/bin/odd", TMUX: "theirs" };
      const environment = { ...BASE, ...many, ...odd };
      await runtime.create(shell(first, "env -0 > env; sleep 100", { environment, extraEnvironment: { EXTRA: "1" } }));
      const block = await eventually(
        "env is whole",
        async () => (await written("env")).includes("VARIABLE_299") && readFileSync(path("env"), "utf8"),
      );
      const { TMUX: _dropped, ...kept } = environment;
      const { TERM, ...seen } = parseBlock(block);
      const mark = { [MARK_VARIABLE]: formatMark(fixture.instance, first) };
      expect(seen).toEqual({ ...kept, EXTRA: "1", ...mark, PWD: fixture.workDir });
      expect(TERM).toBeTypeOf("string");
      expect(runtime.environmentOf(first)).toMatchObject({ ...kept, EXTRA: "1" });
      expect(runtime.environmentOf(second)).toBe(null);
    });

    it("passes every argument byte for byte", async () => {
      const odd = [
        "a b",
        "'",
        '"',
        "$HOME",
        "${x}",
        "#{pane_id}",
        "#(date)",
        "l1\nl2",
        ";",
        "a;",
        "~",
        "~root",
        "\\",
        "é漢🙂",
        "-t",
        "",
        "{",
        "}",
        "%if",
        "\t\u0001",
      ];
      await runtime.create(request(first, ["sh", "-c", 'printf "%s\\0" "$@" > args; mv args done', "sh", ...odd]));
      expect((await written("done")).split("\0").slice(0, -1)).toEqual(odd);
    });

    it("runs programs, never what the shell has under the same name", async () => {
      await runtime.create(request(first, ["exit", "7"]));
      expect(await exit(first)).toEqual({ code: 127, signal: null });
    });

    it.each([
      ["exit 0", { code: 0, signal: null }],
      ["exit 3", { code: 3, signal: null }],
      ["kill -KILL $$", { code: 137, signal: "SIGKILL" }],
    ])("tells how it ended at once: %s", async (script, outcome) => {
      const hints: (Target | null)[] = [];
      runtime.onChange((target) => hints.push(target));
      await runtime.create(shell(first, `while ! [ -e go ]; do sleep 0.01; done; ${script}`));
      await runtime.observe(first);
      hints.length = 0;
      writeFileSync(path("go"), "");
      await eventually("the end was hinted at", () => hints.some((target) => target?.sessionId === "one"));
      expect(await exit(first)).toEqual(outcome);
    });

    it("notices each of many exits without being asked", async () => {
      const ended = new Set<string>();
      runtime.onChange((target) => target !== null && ended.add(target.sessionId));
      const ids = Array.from({ length: 30 }, (_, index) => `many-${index}`);
      for (const sessionId of ids) await runtime.create(shell({ sessionId, incarnation: 1 }, "read x; exit 5"));
      for (const sessionId of ids) await runtime.send({ sessionId, incarnation: 1 }, [{ type: "key", key: "Enter" }]);
      await eventually("every exit was hinted at", () => ended.size === ids.length);
      const listing = await runtime.list();
      expect(
        listing.reachable &&
          listing.entries.every(({ observation }) => observation.status === "exited" && observation.code === 5),
      ).toBe(true);
    });

    it("keeps the environment for the next incarnation, and only that", async () => {
      await runtime.create(
        shell(first, "exit 1", {
          environment: { ...BASE, SECRET: "s$1", SHELL: "/bin/x" },
          extraEnvironment: { OLD: "1" },
        }),
      );
      await exit(first);
      expect(await runtime.retainsEnvironment("one")).toBe(true);
      const next = fixture.reopen();
      const script = "env -0 > env2; mv env2 done; sleep 100";
      expect(
        await next.create(shell(second, script, { environment: null, extraEnvironment: { NEW: "2" } })),
      ).toMatchObject({ isNew: true });
      const { TERM: _term, ...seen } = parseBlock(await written("done"));
      const mark = { [MARK_VARIABLE]: formatMark(fixture.instance, second) };
      expect(seen).toEqual({ ...BASE, SECRET: "s$1", SHELL: "/bin/x", NEW: "2", ...mark, PWD: fixture.workDir });
      expect(await runtime.observe(first)).toMatchObject({ status: "absent" });
      expect(await runtime.observe(second)).toMatchObject({ status: "running" });
    });

    it("says that an environment is lost rather than inventing one", async () => {
      await expect(runtime.create(shell(second, "true", { environment: null }))).rejects.toMatchObject({
        code: "environment-lost",
        kind: "conflict",
      });
      await runtime.create(shell(first, "exit 1"));
      await exit(first);
      await runtime.destroy(first);
      await runtime.destroy(first);
      expect(await runtime.observe(first)).toMatchObject({ status: "absent" });
      await expect(runtime.create(shell(second, "true", { environment: null }))).rejects.toMatchObject({
        code: "environment-lost",
      });
    });

    it("replaces what is left of an older incarnation when given an environment", async () => {
      await runtime.create(shell(first, "exit 1"));
      await exit(first);
      await runtime.create(shell(second, "sleep 100"));
      expect(await runtime.list()).toMatchObject({ entries: [{ ...second, observation: { status: "running" } }] });
    });

    it("ends a tree that ignores HUP and TERM, and what left it", async () => {
      const stubborn = "trap '' HUP TERM INT; while :; do sleep 0.1; done";
      const script = `setsid sh -c "${stubborn}" & (setsid sh -c "(${stubborn}) &") & ${stubborn}`;
      await runtime.create(shell(first, script));
      await eventually("the tree stands", () => markedProcesses(fixture.instance).length >= 5);
      const report = await runtime.stop(first, { graceMs: 200 });
      expect(report.survivors).toEqual([]);
      expect(report.killed).toBeGreaterThan(0);
      expect(markedProcesses(fixture.instance)).toEqual([]);
      expect(await runtime.observe(first)).toMatchObject({ status: "exited", signal: "SIGKILL" });
      expect(await runtime.retainsEnvironment("one")).toBe(true);
    });

    it("ends politely where that is enough, and hurries when told", async () => {
      await runtime.create(shell(first, "trap 'exit 9' TERM; touch up; while :; do sleep 0.05; done"));
      await written("up").catch(() => {});
      await eventually("the trap stands", () => existsSync(path("up")));
      expect(await runtime.stop(first, GRACE)).toMatchObject({ killed: 0, survivors: [] });
      expect(await exit(first)).toEqual({ code: 9, signal: null });

      const stubborn: Target = { sessionId: "two", incarnation: 1 };
      await runtime.create(shell(stubborn, "trap '' TERM; while :; do sleep 0.05; done"));
      const hurry = new AbortController();
      const stopping = runtime.stop(stubborn, { graceMs: 60_000, hurry: hurry.signal });
      hurry.abort();
      expect(await stopping).toMatchObject({ survivors: [] });
    });

    it("sweeps by mark what outlived its place, and finds strays", async () => {
      await runtime.create(shell(first, "setsid sleep 100 & sleep 0.1; exit 0"));
      await exit(first);
      const strays = await runtime.findStrays(() => false);
      expect(strays).toMatchObject([{ ...first, command: "sleep 100" }]);
      expect(await runtime.findStrays((target) => target.sessionId === "one")).toEqual([]);
      await runtime.destroy(first);
      expect(await runtime.stop(first, GRACE)).toMatchObject({ terminated: 1, survivors: [] });
    });

    it("suspends and releases the whole tree", async () => {
      await runtime.create(shell(first, "(while :; do sleep 0.01; done) & while :; do sleep 0.01; done"));
      const { place } = await runtime.create(shell(first, ""));
      await eventually("the tree stands", () => markedProcesses(fixture.instance).length >= 4);
      expect(await runtime.suspend(first)).toMatch(/stopped/);
      const frozen = markedProcesses(fixture.instance).filter((pid) => pid !== place.pid);
      expect(frozen.length).toBeGreaterThanOrEqual(2);
      expect(frozen.every(isFrozen)).toBe(true);
      expect(await runtime.observe(first)).toMatchObject({ status: "running" });
      expect(await runtime.release(first)).toMatch(/run again/);
      expect(markedProcesses(fixture.instance).some(isFrozen)).toBe(false);
      await runtime.suspend(first);
      expect(await runtime.stop(first, GRACE)).toMatchObject({ killed: 0, survivors: [] });
    });

    it.each(["cooked", "raw"])("pastes 1 MiB byte for byte into a %s terminal", async (mode) => {
      const stty = mode === "raw" ? "raw -echo" : "-echo";
      const line = `${"漢é🙂 x$\"\\'#{}~\t".repeat(60)}\n`;
      const text = `${line.repeat(Math.floor(1_048_000 / Buffer.byteLength(line)))}last\n`;
      const size = Buffer.byteLength(text);
      await runtime.create(shell(first, `stty ${stty}; touch up; head -c ${size} > got; mv got done; sleep 100`));
      await eventually("it reads", () => existsSync(path("up")));
      await runtime.send(first, [{ type: "paste", text }]);
      const got = await written("done");
      expect(Buffer.byteLength(got)).toBe(size);
      expect(createHash("sha256").update(got).digest("hex")).toBe(createHash("sha256").update(text).digest("hex"));
    });

    it("types steps in order, and brackets pastes only where asked", async () => {
      await runtime.create(
        shell(first, "stty raw -echo; printf '\\033[?2004h'; touch up; head -c 21 > got; mv got done; sleep 100"),
      );
      await eventually("it reads", () => existsSync(path("up")));
      await runtime.send(first, [
        { type: "pause", ms: 30 },
        { type: "paste", text: "two\nlines" },
      ]);
      expect(await written("done")).toBe("\u001b[200~two\nlines\u001b[201~");
      const other: Target = { sessionId: "two", incarnation: 1 };
      await runtime.create(
        shell(other, 'read a; read b; printf \'%s|%s\' "$a" "$b" > keys; mv keys keysdone; sleep 100'),
      );
      await runtime.send(other, [
        { type: "paste", text: "- a" },
        { type: "key", key: "Enter" },
        { type: "key", key: "y" },
        { type: "key", key: "Enter" },
      ]);
      expect(await written("keysdone")).toBe("- a|y");
    });

    it("refuses what it cannot deliver unchanged", async () => {
      await runtime.create(shell(first, "cat; sleep 100"));
      const paste = (text: string): Promise<void> => runtime.send(first, [{ type: "paste", text }]);
      for (const text of ["\u001b[31m", "a\rb", "\u0000", "\u007f", "\u0085", "\u009b31m", "\ud800"]) {
        await expect(paste(text)).rejects.toMatchObject({ code: "message-not-text", kind: "usage" });
      }
      await expect(paste("é".repeat(600_000))).rejects.toMatchObject({ code: "message-too-long", kind: "usage" });
      await expect(paste("é".repeat(2_048))).rejects.toMatchObject({ code: "line-too-long", kind: "conflict" });
      await expect(runtime.send(second, [{ type: "key", key: "Enter" }])).rejects.toMatchObject({ kind: "conflict" });
      await runtime.stop(first, GRACE);
      await expect(paste("x")).rejects.toMatchObject({ code: "not-running", kind: "conflict" });
      for (const sessionId of ["", "../x", "a;b", "#{pid}", "-t", "A", "x".repeat(65), "a.b", "a\nb", "\u202e"]) {
        if (sessionId === "-t") continue; // a legal id that looks like an option
        await expect(runtime.create(shell({ sessionId, incarnation: 1 }, "true"))).rejects.toMatchObject({
          code: "name-invalid",
        });
      }
    });

    it("shows the screen as plain text, also after the end", async () => {
      await runtime.create(
        shell(
          first,
          "printf '\\033[31mred\\033[0m \\033]0;title\\007\\033]52;c;eA==\\007plain\\n'; for i in 1 2 3; do echo line $i; done; exit 4",
        ),
      );
      await exit(first);
      expect(await runtime.capture(first, { lines: 100 })).toEqual({
        text: "red plain\nline 1\nline 2\nline 3",
        truncated: false,
      });
      expect(await runtime.capture(first, { lines: 2 })).toEqual({ text: "line 2\nline 3", truncated: true });
    });

    it("streams output byte for byte to every listener until it stops listening", async () => {
      const heard: [Buffer[], Buffer[]] = [[], []];
      const stopFirst = runtime.stream(first, (bytes) => heard[0].push(bytes));
      runtime.stream(first, (bytes) => heard[1].push(bytes));
      const odd = Buffer.from(Array.from({ length: 256 }, (_, index) => index).concat([0x5c, 0x30, 0x0a]));
      writeFileSync(path("odd"), Buffer.concat(Array.from({ length: 400 }, () => odd)));
      await runtime.create(shell(first, "stty raw -echo; cat odd; printf END; read x; printf MORE; sleep 100"));
      const text = (index: 0 | 1): string => Buffer.concat(heard[index]).toString("latin1");
      await eventually("all of it came", () => text(1).endsWith("END"));
      const whole = Buffer.concat([readFileSync(path("odd")), Buffer.from("END")]).toString("latin1");
      expect(text(0) === whole && text(1) === whole).toBe(true);
      stopFirst();
      await runtime.send(first, [{ type: "paste", text: "\n" }]);
      await eventually("the rest came", () => text(1).endsWith("MORE"));
      expect(text(0).endsWith("END")).toBe(true);
    });
  });
}

const first: Target = { sessionId: "one", incarnation: 1 };
const second: Target = { sessionId: "one", incarnation: 2 };

function parseBlock(block: string): Record<string, string> {
  const entries = block.split("\0").filter((entry) => entry !== "");
  return Object.fromEntries(
    entries.map((entry) => [entry.slice(0, entry.indexOf("=")), entry.slice(entry.indexOf("=") + 1)]),
  );
}

function isFrozen(pid: number): boolean {
  const row = readProcess(pid);
  return row !== null && isStopped(row);
}

/** Living processes that carry any mark of this instance. */
export function markedProcesses(instance: string): readonly number[] {
  return listProcesses()
    .filter(
      (row) =>
        row.state !== "Z" && readEnvironmentVariable(row.pid, MARK_VARIABLE)?.startsWith(`${instance}.`) === true,
    )
    .map((row) => row.pid);
}
