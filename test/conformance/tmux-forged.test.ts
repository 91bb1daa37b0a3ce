/**
 * Our option on panes that are not ours: anyone with the server's socket can set it. Whose a pane is
 * says its process; nothing else is observed, signalled or closed.
 */
import { beforeEach, describe, expect, it } from "vitest";
import { isAlive, readProcess } from "../../src/platform/process-table.ts";
import { formatMark, type Runtime, type Target } from "../../src/runtime/contract.ts";
import { eventually } from "../support/eventually.ts";
import { first, second, useGround } from "./runtime-ground.ts";
import { panePlace, makeTmuxFixture } from "./tmux-fixture.ts";

describe("a forged option", () => {
  const ground = useGround(() => makeTmuxFixture());
  const { shell, exit } = ground;
  const other: Target = { sessionId: "other", incarnation: 1 };
  const tmux = (...args: readonly string[]): string => ground.fixture.tmux(...args);
  const markOf = (target: Target): string => formatMark(ground.fixture.instance, target);
  const claim = (session: string, mark: string): void =>
    void tmux("set-option", "-p", "-t", `=${session}:`, "@reeve", mark);

  /** A person's own pane on our server, with a claim that it is ours; returns how to see whether it was left alone. */
  function theirs(mark: string, ...command: readonly string[]): () => { isAlive: boolean; panes: number } {
    tmux("new-session", "-d", "-s", "theirs", ...command);
    claim("theirs", mark);
    const pid = Number(tmux("list-panes", "-t", "=theirs:", "-F", "#{pane_pid}"));
    const startTicks = readProcess(pid)?.startTicks ?? "";
    return () => ({
      isAlive: isAlive(pid, startTicks),
      panes: tmux("list-panes", "-a", "-F", "#{session_name}").split("theirs").length - 1,
    });
  }
  const untouched = { isAlive: true, panes: 1 };

  /** What the next daemon has. There is one at a time: two connections would each end the other's. */
  async function reopened(): Promise<Runtime> {
    await current?.close();
    current = ground.fixture.reopen();
    return current;
  }
  let current: Runtime | null = null;
  beforeEach(() => {
    current = ground.runtime;
  });

  it("beside the session it names: only that one is observed, ended and closed", async () => {
    const { place } = await ground.runtime.create(shell(first, "sleep 100"));
    const look = theirs(markOf(first), "sleep", "321");
    expect(await ground.runtime.observe(first)).toMatchObject({ status: "running", place });
    const next = await reopened();
    expect(await next.observe(first)).toMatchObject({ status: "running", place });
    expect(await next.list()).toMatchObject({ entries: [{ ...first, presence: { place } }] });
    expect(await next.stop(first, { graceMs: 2_000 })).toMatchObject({ survivors: [] });
    await next.destroy(first);
    expect(look()).toEqual(untouched);
  });

  it("with the mark of a session that is not there: absent, and nothing is done to it", async () => {
    await ground.runtime.create(shell(other, "sleep 100"));
    const look = theirs(markOf(first), "sleep", "321");
    const next = await reopened();
    expect(await next.observe(first)).toMatchObject({ status: "absent" });
    expect(await next.list()).toMatchObject({ entries: [other] });
    await expect(next.send(first, [{ type: "key", key: "Enter" }])).rejects.toMatchObject({ code: "place-absent" });
    await expect(next.suspend(first)).rejects.toMatchObject({ code: "place-absent" });
    expect(await next.stop(first, { graceMs: 100 })).toMatchObject({ terminated: 0, killed: 0, survivors: [] });
    await next.destroy(first);
    expect(await next.retainsEnvironment("one")).toBe(false);
    expect((await next.create(shell(first, "sleep 100"))).isNew).toBe(true);
    expect(look()).toEqual(untouched);
  });

  it("on a pane with a tree of processes: none of them is signalled", async () => {
    await ground.runtime.create(shell(other, "sleep 100"));
    const look = theirs(markOf(first), "sh", "-c", "sleep 321; :");
    expect(await ground.runtime.stop(first, { graceMs: 100 })).toMatchObject({ terminated: 0, killed: 0 });
    expect(look()).toEqual(untouched);
  });

  it("on a pane that is dead: how it ended, its screen and its environment are nobody's of ours", async () => {
    await ground.runtime.create(shell(other, "sleep 100"));
    const look = theirs(markOf(first), "sh", "-c", "exit 3");
    await eventually("it is dead", () => tmux("list-panes", "-t", "=theirs:", "-F", "#{pane_dead}") === "1\n");
    const next = await reopened();
    expect(await next.observe(first)).toMatchObject({ status: "absent" });
    await expect(next.create(shell(second, "true", { environment: null }))).rejects.toMatchObject({
      code: "environment-lost",
    });
    await next.destroy(first);
    await next.create(shell(first, "sleep 100"));
    expect(look()).toEqual({ isAlive: false, panes: 1 });
  });

  it("on one of ours, with another's mark or none at all: it stays what its process says", async () => {
    const { place } = await ground.runtime.create(shell(first, "sleep 100"));
    const beside = await ground.runtime.create(shell(other, "sleep 100"));
    for (const mark of [markOf(other), "nonsense", `${markOf(other)}\npane %9 $9 @9 1   0 0 /dev/null x 1 x`]) {
      claim("one", mark);
      tmux("rename-session", "-t", "=one", "mine");
      const next = await reopened();
      expect(await next.observe(first)).toMatchObject({ status: "running", place });
      expect(await next.observe(other)).toMatchObject({ status: "running", place: beside.place });
      const listing = await next.list();
      const listed = listing.reachable && listing.entries.map((entry) => entry.sessionId);
      expect(listed && listed.toSorted()).toEqual(["one", "other"]);
      tmux("rename-session", "-t", "=mine", "one");
    }
    expect(await (await reopened()).stop(first, { graceMs: 2_000 })).toMatchObject({ survivors: [] });
    expect(isAlive(panePlace(place).pid, panePlace(place).startTicks)).toBe(false);
    expect(isAlive(panePlace(beside.place).pid, panePlace(beside.place).startTicks)).toBe(true);
  });

  it("is not needed to know what became of one of ours, also by a daemon that never saw it live", async () => {
    await ground.runtime.create(shell(first, "exit 7"));
    await exit(first);
    const next = await reopened();
    expect(await next.observe(first)).toMatchObject({ status: "exited", code: 7 });
    expect((await next.create(shell(first, "true"))).isNew).toBe(false);
    claim("one", "nonsense");
    expect(await next.observe(first)).toMatchObject({ status: "exited", code: 7 });
  });
});
