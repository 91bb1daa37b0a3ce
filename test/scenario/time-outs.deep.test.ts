/** Time-outs and holds with a real daemon, which is killed while they count. */
import { expect, test } from "vitest";
import { askSession } from "../support/ask-daemon.ts";
import { eventually } from "../support/eventually.ts";
import { inHome } from "../support/in-home.ts";
import type { EventRow, TestHome } from "../support/test-home.ts";

async function eventsOf(home: TestHome, name: string, ...types: readonly string[]): Promise<readonly EventRow[]> {
  const { sessions } = await home.json<{ sessions: { name: string; session_id: string }[] }>("list", "--all");
  const id = sessions.find((session) => session.name === name)?.session_id;
  return (await home.events()).filter((event) => event.session_id === id && types.includes(event.type));
}

const start = (home: TestHome, name: string, ...args: readonly string[]): Promise<unknown> =>
  home.json("start", "practice", "--name", name, ...args);

async function untilFired(home: TestHome, name: string): Promise<EventRow> {
  return await eventually(`${name} timed out`, async () => (await eventsOf(home, name, "timed-out"))[0]);
}

test.concurrent("a turn is interrupted once, although the daemon is killed while it counts and right after", () =>
  inHome("", async (home) => {
    await start(home, "long", "--timeouts", "turn=3s:interrupt", "sleep 600");
    await eventually("its turn is under way", async () => (await askSession(home, "long"))?.["turn_open"] === true);
    await home.killDaemon();
    const event = await untilFired(home, "long");
    expect(event.data).toMatchObject({ which: "turn", after_seconds: 3, action: "interrupt", turn: 1 });
    home.killRunningDaemon();
    const [over] = await eventually("its turn is over", async () => {
      const events = await eventsOf(home, "long", "turn-interrupted");
      return events.length > 0 ? events : null;
    });
    expect(over?.data).toMatchObject({ turn: 1, timed_out: "turn" });
    expect(await home.session("long")).toMatchObject({ state: "running", last_turn: "interrupted", timed_out: [] });
    await home.json("send", "long", "say hello");
    await home.json("wait", "long", "--for", "turn-completed");
    expect(await eventsOf(home, "long", "timed-out")).toHaveLength(1);
  }));

test.concurrent("an idle session is ended with the reason; one that is held stays until it is released", () =>
  inHome("[role.short.timeouts]\nidle = 2\n", async (home) => {
    await start(home, "gone", "--role", "short");
    await start(home, "kept", "--role", "short", "--hold", "needed for the review");
    await home.killDaemon();
    const stopped = await eventually("it is ended", async () => (await eventsOf(home, "gone", "session-stopped"))[0]);
    expect(stopped.data).toMatchObject({ timed_out: "idle", asked_by: "system" });
    expect(stopped.data["reason"]).toMatchObject({
      text: expect.stringMatching(/^Ended by its idle time-out: nothing has happened in it for 2 seconds\./) as string,
    });
    expect(await home.session("kept")).toMatchObject({
      state: "running",
      held: { reason: "needed for the review", by: "operator" },
    });
    expect((await home.run(["list"])).stdout).toMatch(/kept .*Held: needed for the review/);
    const refused = await home.run(["end", "kept", "--json"]);
    expect([refused.status, JSON.parse(refused.stdout)]).toMatchObject([
      1,
      { error: { code: "session-held", message: expect.stringContaining("--even-if-held") as string } },
    ]);
    expect(await eventsOf(home, "kept", "timed-out")).toEqual([]);
    await home.json("hold", "--release", "kept");
    await eventually("it is ended, too", async () => (await eventsOf(home, "kept", "session-stopped")).length === 1);
    expect(
      (await eventsOf(home, "kept", "session-held", "hold-released", "timed-out")).map(({ type }) => type),
    ).toEqual(["session-held", "hold-released", "timed-out"]);
  }));

test.concurrent("a session that is too old ends after its turn; a question that waits too long is in the inbox", () =>
  inHome("[timeouts]\napproval = 2\n", async (home) => {
    await start(home, "old", "--timeouts", "age=1s", "sleep 3");
    await start(home, "asker", "ask to go on");
    const over = await eventually("it is ended", async () => (await eventsOf(home, "old", "session-stopped"))[0]);
    expect(over.data).toMatchObject({ timed_out: "age" });
    const types = (await eventsOf(home, "old", "timed-out", "turn-completed", "session-stopped")).map(
      ({ type }) => type,
    );
    expect(types).toEqual(["timed-out", "turn-completed", "session-stopped"]);
    const item = await eventually("the inbox says so", async () => {
      const { items } = await home.json<{ items: { kind: string; session_name: string; title: string }[] }>("inbox");
      return items.find(({ kind }) => kind === "overdue-approval");
    });
    expect(item).toMatchObject({
      session_name: "asker",
      title: expect.stringContaining("for more than 2 seconds") as string,
    });
    await home.killDaemon();
    await home.json("approve", "asker");
    await home.json("wait", "asker", "--for", "turn-completed");
    expect(await eventsOf(home, "asker", "timed-out")).toHaveLength(1);
    const explained = (await home.run(["explain", "asker"])).stdout;
    expect(explained).toMatch(/approval: report after 2 seconds \(from \[timeouts\] in config\.toml\)\./);
  }));

test.concurrent("processes that do not end in the grace of their session are killed then, also by the next daemon", () =>
  inHome("", async (home) => {
    const stubborn = "trap '' TERM; while :; do sleep 0.1; done";
    await home.json(
      "start",
      "command",
      "--name",
      "stubborn",
      "--timeouts",
      "stop_grace=3s",
      "--",
      "sh",
      "-c",
      stubborn,
    );
    await eventually("it runs", async () => (await askSession(home, "stubborn"))?.["state"] === "running");
    const ending = home.run(["end", "stubborn", "--when", "now"]);
    await eventually(
      "its end was asked for",
      async () => (await eventsOf(home, "stubborn", "end-requested")).length > 0,
    );
    await home.killDaemon();
    expect((await ending).status).toBe(0);
    const events = await eventsOf(home, "stubborn", "timed-out", "session-stopped");
    expect(events.map(({ type }) => type)).toEqual(["timed-out", "session-stopped"]);
    expect(events[0]?.data).toMatchObject({ which: "stop_grace", after_seconds: 3, action: "kill" });
  }));

test.concurrent("what makes no sense is refused with one sentence, and starts nothing", () =>
  inHome("", async (home) => {
    const bad: readonly (readonly [readonly string[], string, string])[] = [
      [
        ["start", "practice", "--timeouts", "idle=5:interrupt"],
        "bad-timeout",
        'timeouts idle cannot do "interrupt"; it can report or end.',
      ],
      [["start", "practice", "--timeouts", "turns=5"], "bad-value", "there are start, turn, idle"],
      [["start", "practice", "--timeouts", "turn=soon"], "bad-timeout", "timeouts turn must be a number of seconds"],
      [["hold", "nobody", "--for", "31d"], "bad-hold", "A session is held for 30 days at most"],
      [["hold", "nobody", "--for", "1h", "--until", "2030-01-01T00:00"], "bad-value", "exclude each other"],
      [["hold", "nobody", "--release", "--reason", "x"], "bad-value", "--release ends a hold"],
      [["hold", "nobody"], "unknown-session", "nobody"],
    ];
    for (const [args, code, text] of bad) {
      const { status, stdout } = await home.run([...args, "--json"]);
      expect([args, status === 0, JSON.parse(stdout)]).toMatchObject([
        args,
        false,
        { error: { message: expect.stringContaining(text) as string } },
      ]);
      expect([args, (JSON.parse(stdout) as { error: { code: string } }).error.code]).toEqual([args, code]);
    }
    expect(await home.list()).toEqual([]);
  }));
