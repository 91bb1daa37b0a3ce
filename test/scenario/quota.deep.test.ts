/**
 * A usage limit through the real daemon: one session meets it, the others of its
 * account wait with what they have to do, and all of them finish after the
 * reset. With and without a kill -9 of the daemon in the middle.
 */
import { afterEach, beforeEach, expect, test } from "vitest";
import { eventually } from "../support/eventually.ts";
import { createTestHome, type EventRow, type TestHome } from "../support/test-home.ts";

let home: TestHome;
beforeEach(() => {
  home = createTestHome();
  home.configure("[quota]\nstagger_seconds = 0.2\nretry_seconds = 1\n");
});
afterEach(() => home.dispose());

const NAMES = ["one", "two", "three", "four", "five"];

async function idle(name: string): Promise<void> {
  await eventually(`${name} is idle`, async () => {
    const session = await home.session(name);
    return session["activity"] === "idle" && session["turn_open"] === false;
  });
}

async function startIdle(...names: readonly string[]): Promise<void> {
  for (const name of names) await home.json("start", "practice", "--name", name);
  for (const name of names) await idle(name);
}

async function eventsOf(...types: readonly string[]): Promise<readonly EventRow[]> {
  return (await home.events()).filter(({ type }) => types.includes(type));
}

const parked = (): Promise<EventRow> =>
  eventually("the limit is noticed", async () => (await eventsOf("quota-parked"))[0]);

async function finished(name: string, turns: number): Promise<void> {
  await eventually(`${name} has finished turn ${turns}`, async () => {
    const session = await home.session(name);
    return session["turns"] === turns && session["last_turn"] === "completed" && session["turn_open"] === false;
  });
}

test.each([{ isKilled: false }, { isKilled: true }])(
  "six sessions of one account: the first meets the limit, the others wait, all finish, no turn twice; daemon killed: $isKilled",
  async ({ isKilled }) => {
    await startIdle(...NAMES);
    await home.json("send", "one", "limit 4s of tokens");
    const closed = await parked();
    expect(closed.data).toMatchObject({ account: "practice", limit: "tokens", confidence: "stated" });

    await Promise.all([
      ...NAMES.slice(1).map((name) => home.run(["send", name, "hello", "--timeout", "0"])),
      home.run(["start", "practice", "hello", "--name", "six"]),
      home.run(["start", "practice", "hello", "--name", "other"], { environment: { PRACTICE_ACCOUNT: "second" } }),
    ]);
    if (isKilled) await home.killDaemon();
    await finished("other", 1);
    await finished("one", 2);
    for (const name of [...NAMES.slice(1), "six"]) await finished(name, 1);

    const events = await home.events();
    const opened = events.find(({ type }) => type === "quota-opened");
    const own = new Set((await home.list()).filter(({ name }) => name !== "other").map((one) => one.session_id));
    const begun = events.filter(({ type, session_id: id }) => type === "turn-started" && own.has(id ?? ""));
    const early = begun.filter(({ seq }) => seq > closed.seq && seq < (opened?.seq ?? 0));
    expect(early).toHaveLength(1);
    // Six requests, one of which failed and was asked for again.
    expect(begun).toHaveLength(7);
    expect(events.filter(({ type }) => type === "turn-failed")).toHaveLength(1);
    expect(events.filter(({ data }) => data["is_resume"] === true)).toHaveLength(1);
    expect((await home.session("two"))["parked"]).toBeNull();
  },
);

test("a session that somebody asks something else meanwhile is not told to continue", async () => {
  await startIdle("one");
  await home.json("send", "one", "limit 2s");
  await parked();
  await home.json("send", "one", "hello", "--timeout", "0");
  await finished("one", 2);
  expect((await home.events()).filter(({ data }) => data["is_resume"] === true)).toEqual([]);
});

test("without a stated reset Reeve tries again after a while, and again later if that fails", async () => {
  await startIdle("one");
  await home.json("send", "one", "limit 2s unsaid");
  expect((await parked()).data).toMatchObject({ confidence: "none" });
  await finished("one", 3);
  expect(await eventsOf("quota-parked")).toHaveLength(2);
  expect(await eventsOf("quota-opened")).toHaveLength(1);
});

test("what waits is shown everywhere, a start that waits can be ended, and how much is used is told in time", async () => {
  await startIdle("one");
  await home.json("send", "one", "used 83");
  await finished("one", 1);
  await home.json("send", "one", "used 84");
  await finished("one", 2);
  expect((await eventsOf("quota-warned")).map(({ data }) => data)).toMatchObject([{ used_percent: 83 }]);
  await home.json("start", "practice", "--name", "two");
  await idle("two");
  await home.json("send", "one", "limit 600s of tokens");
  await parked();
  const sent = await home.json("send", "two", "hello", "--timeout", "0");
  expect(sent["detail"]).toMatch(/^Waiting: the limit tokens of practice is reached; it resets at /);
  const started = await home.run(["start", "practice", "hello", "--name", "three"]);
  expect(started.stdout + started.stderr).toMatch(
    /^Recorded three .* Waits until \S+ UTC: the limit tokens of practice is/,
  );
  const waits = {
    need: "parked",
    headline: expect.stringMatching(/^Waits until \S+ UTC: the limit tokens of practice is/),
  };
  expect(await home.session("three")).toMatchObject({ ...waits, state: "starting", parked: { waiting: true } });
  expect(await home.session("two")).toMatchObject({ ...waits, turns: 0, account: "practice" });
  expect(await home.json("end", "three")).toMatchObject({ done: true });
  const explained = (await home.run(["explain", "two"])).stdout;
  expect(explained).toContain("hook reported that limit");
  const { quotas } = await home.json<{ quotas: readonly Record<string, unknown>[] }>("quota");
  expect(quotas[0]).toMatchObject({ limit: "tokens", status: "waiting", sessions: 2, confidence: "stated" });
  expect(quotas[0]).toMatchObject({ waiting: [{ name: "one" }, { name: "two" }] });
  expect((await home.run(["quota"])).stdout).toMatch(/practice\s+tokens\s+100 %\s+reached\s+in 9 min/);
});
