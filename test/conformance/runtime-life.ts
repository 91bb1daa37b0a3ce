/** A session's process: created once, with what it was given, and its end told. */
import { expect, it } from "vitest";
import { formatMark, MARK_VARIABLE, type Target } from "../../src/runtime/contract.ts";
import { eventually } from "../support/eventually.ts";
import { BASE, first, type Ground, second } from "./runtime-ground.ts";

export function testLife(ground: Ground): void {
  const { request, shell, put, written, exit } = ground;

  it("lists nothing, and starts nothing, on untouched ground", async () => {
    expect(await ground.runtime.list()).toMatchObject({ reachable: true, entries: [] });
    expect(await ground.runtime.observe(first)).toMatchObject({ status: "absent" });
    expect(await ground.runtime.retainsEnvironment("one")).toBe(false);
  });

  it("creates once per incarnation", async () => {
    const [a, b] = await Promise.all([
      ground.runtime.create(shell(first, "sleep 100")),
      ground.runtime.create(shell(first, "sleep 100")),
    ]);
    const again = await ground.fixture.reopen().create(shell(first, "sleep 100"));
    expect([a, b, again].filter(({ isNew }) => isNew)).toHaveLength(1);
    expect(b.place).toEqual(a.place);
    expect(again.place).toEqual(a.place);
    expect(ground.runtime.describe(a.place).text).not.toBe("");
    expect(await ground.runtime.observe(first)).toMatchObject({ status: "running", place: a.place });
    expect(await ground.runtime.list()).toMatchObject({ entries: [{ ...first, presence: { status: "running" } }] });
  });

  it("retires only when nothing lives in it, and can be used again afterwards", async () => {
    await ground.runtime.retire();
    await ground.runtime.create(shell(first, "sleep 100"));
    await expect(ground.runtime.retire()).rejects.toMatchObject({ kind: "conflict" });
    expect(await ground.runtime.observe(first)).toMatchObject({ status: "running" });
    await ground.runtime.stop(first, { graceMs: 1_000 });
    await ground.runtime.retire();
    expect(await ground.runtime.observe(first)).toMatchObject({ status: "absent" });
    expect(await ground.runtime.create(shell(second, "sleep 100"))).toMatchObject({ isNew: true });
  });

  it("refuses a new incarnation while an older one runs", async () => {
    await ground.runtime.create(shell(first, "sleep 100"));
    await expect(ground.runtime.create(shell(second, "sleep 100"))).rejects.toMatchObject({ code: "still-running" });
    await expect(ground.runtime.destroy(first)).rejects.toMatchObject({ code: "still-running" });
  });

  it("gives exactly the environment asked for", async () => {
    const many = Object.fromEntries(Array.from({ length: 300 }, (_, index) => [`VARIABLE_${index}`, `value ${index}`]));
    const odd = { ODD: "a b\n\"'$HOME #{pid} ; \\ ~ é\t", EMPTY: "", SHELL: "/bin/odd", TMUX: "theirs" };
    const environment = { ...BASE, ...many, ...odd };
    const { place } = await ground.runtime.create(
      shell(first, "env -0 > env; sleep 100", { environment, extraEnvironment: { EXTRA: "1" } }),
    );
    const block = await eventually("env is whole", async () => {
      const text = await written("env");
      return text.includes("VARIABLE_299") && text;
    });
    const { TMUX: _dropped, ...kept } = environment;
    const { TERM, ...seen } = parseBlock(block);
    const mark = { [MARK_VARIABLE]: formatMark(ground.fixture.instance, first) };
    expect(seen).toEqual({ ...kept, EXTRA: "1", ...mark, PWD: ground.fixture.workDir });
    expect(TERM).toBeTypeOf("string");
    expect(await ground.runtime.environmentOf(first, place)).toMatchObject({ ...kept, EXTRA: "1" });
    expect(await ground.runtime.environmentOf(second, null)).toBe(null);
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
    await ground.runtime.create(request(first, ["sh", "-c", 'printf "%s\\0" "$@" > args; mv args done', "sh", ...odd]));
    expect((await written("done")).split("\0").slice(0, -1)).toEqual(odd);
  });

  it("runs programs, never what the shell has under the same name", async () => {
    await ground.runtime.create(request(first, ["exit", "7"]));
    expect(await exit(first)).toEqual({ code: 127, signal: null });
  });

  it.each([
    ["exit 0", { code: 0, signal: null }],
    ["exit 3", { code: 3, signal: null }],
    ["kill -KILL $$", { code: 137, signal: "SIGKILL" }],
  ])("tells how it ended at once: %s", async (script, outcome) => {
    const hints: (Target | null)[] = [];
    ground.runtime.onChange((target) => hints.push(target));
    await ground.runtime.create(shell(first, `while ! [ -e go ]; do sleep 0.01; done; ${script}`));
    await ground.runtime.observe(first);
    hints.length = 0;
    await put("go", "");
    await eventually("the end was hinted at", () => hints.some((target) => target?.sessionId === "one"));
    expect(await exit(first)).toEqual(outcome);
  });

  it("notices each exit without being asked", async () => {
    const ended = new Set<string>();
    ground.runtime.onChange((target) => target !== null && ended.add(target.sessionId));
    const ids = Array.from({ length: ground.crowd(25) }, (_, index) => `exit-${index}`);
    for (const sessionId of ids) {
      await ground.runtime.create(shell({ sessionId, incarnation: 1 }, "read x; exit 5"));
      await ground.runtime.send({ sessionId, incarnation: 1 }, [{ type: "key", key: "Enter" }]);
      // One by one: the next end would also make a runtime notice the one before.
      await eventually(`the end of ${sessionId} was hinted at`, () => ended.has(sessionId), 2_000);
    }
    const listing = await ground.runtime.list();
    expect(listing).toMatchObject({ reachable: true });
    const presences = listing.reachable ? listing.entries.map(({ presence }) => presence) : [];
    expect(presences.filter(({ status }) => status === "exited")).toHaveLength(ids.length);
  });

  it("notices many exits at once", async () => {
    const ended = new Set<string>();
    ground.runtime.onChange((target) => target !== null && ended.add(target.sessionId));
    const ids = Array.from({ length: ground.crowd(20) }, (_, index) => `many-${index}`);
    for (const sessionId of ids) {
      await ground.runtime.create(shell({ sessionId, incarnation: 1 }, "until [ -e go ]; do sleep 0.02; done; exit 5"));
    }
    await put("go", "");
    await eventually("every end was hinted at", () => ended.size === ids.length);
  });

  it("keeps the environment for the next incarnation, and only that", async () => {
    await ground.runtime.create(
      shell(first, "exit 1", {
        environment: { ...BASE, SECRET: "s$1", SHELL: "/bin/x" },
        extraEnvironment: { OLD: "1" },
      }),
    );
    await exit(first);
    expect(await ground.runtime.retainsEnvironment("one")).toBe(true);
    const next = ground.fixture.reopen();
    const script = "env -0 > env2; mv env2 done; sleep 100";
    expect(
      await next.create(shell(second, script, { environment: null, extraEnvironment: { NEW: "2" } })),
    ).toMatchObject({ isNew: true });
    const { TERM: _term, ...seen } = parseBlock(await written("done"));
    const mark = { [MARK_VARIABLE]: formatMark(ground.fixture.instance, second) };
    expect(seen).toEqual({ ...BASE, SECRET: "s$1", SHELL: "/bin/x", NEW: "2", ...mark, PWD: ground.fixture.workDir });
    expect(await ground.runtime.observe(first)).toMatchObject({ status: "absent" });
    expect(await ground.runtime.observe(second)).toMatchObject({ status: "running" });
  });

  it("says that an environment is lost rather than inventing one", async () => {
    await expect(ground.runtime.create(shell(second, "true", { environment: null }))).rejects.toMatchObject({
      code: "environment-lost",
      kind: "conflict",
    });
    await ground.runtime.create(shell(first, "exit 1"));
    await exit(first);
    await ground.runtime.destroy(first);
    await ground.runtime.destroy(first);
    expect(await ground.runtime.observe(first)).toMatchObject({ status: "absent" });
    await expect(ground.runtime.create(shell(second, "true", { environment: null }))).rejects.toMatchObject({
      code: "environment-lost",
    });
  });

  it("replaces what is left of an older incarnation when given an environment", async () => {
    await ground.runtime.create(shell(first, "exit 1"));
    await exit(first);
    await ground.runtime.create(shell(second, "sleep 100"));
    expect(await ground.runtime.list()).toMatchObject({ entries: [{ ...second, presence: { status: "running" } }] });
  });
}

function parseBlock(block: string): Record<string, string> {
  const entries = block.split("\0").filter((entry) => entry !== "");
  return Object.fromEntries(
    entries.map((entry) => [entry.slice(0, entry.indexOf("=")), entry.slice(entry.indexOf("=") + 1)]),
  );
}
