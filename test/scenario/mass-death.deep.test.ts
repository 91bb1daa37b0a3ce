/**
 * A hundred sessions on one tmux server, which is killed: one event, and all of
 * them come back at a bounded pace, in their conversations, while the daemon
 * answers.
 */
import { expect, test } from "vitest";
import { MOST_AT_ONCE, STARTS_PER_SECOND } from "../../src/supervisor/restarts.ts";
import { askDaemon } from "../support/ask-daemon.ts";
import { eventually } from "../support/eventually.ts";
import { inHome } from "../support/in-home.ts";
import { type EventRow, runProgram, type SessionRow, type TestHome } from "../support/test-home.ts";

const SESSIONS = 100;
/** Faults, invariant D: the daemon answers within this, whatever happens. */
const LONGEST_ANSWER_MS = 5_000;

async function startAll(home: TestHome): Promise<void> {
  const start = (name: string) =>
    askDaemon(home, "/v1/sessions", {
      agent: "command",
      args: ["sleep", "1000"],
      cwd: home.dir,
      name,
      restart: "always",
      environment: home.environment,
    });
  const names = Array.from({ length: SESSIONS - 1 }, (_, index) => `worker-${index}`);
  for (let next = 0; next < names.length; next += 20) await Promise.all(names.slice(next, next + 20).map(start));
}

const listed = async (home: TestHome): Promise<readonly SessionRow[]> =>
  (await askDaemon<{ sessions: SessionRow[] }>(home, "/v1/sessions"))?.sessions ?? [];

/** Asks for the list again and again until told to stop: the longest answer in milliseconds. */
function keepListing(home: TestHome): () => Promise<number> {
  const state = { isOver: false };
  const asking = (async () => {
    let longest = 0;
    while (!state.isOver) {
      const askedAt = performance.now();
      expect(await listed(home)).toHaveLength(SESSIONS);
      longest = Math.max(longest, performance.now() - askedAt);
    }
    return longest;
  })();
  return () => {
    state.isOver = true;
    return asking;
  };
}

const startsOf = (events: readonly EventRow[]): readonly number[] =>
  events.filter(isAgain).map((event) => Date.parse((event as EventRow & { at: string }).at));
const isAgain = ({ type, data }: EventRow): boolean => type === "session-starting" && data["incarnation"] === 2;

test("kill -9 of the server under 100 sessions", { timeout: 180_000 }, () =>
  inHome("", async (home) => {
    await home.json("start", "practice", "--name", "talker", "--restart", "on-failure", "say hello");
    await home.json("wait", "talker", "--for", "turn-completed", "--timeout", "30");
    const before = await home.session("talker");
    await startAll(home);
    const isUp = ({ state, liveness }: SessionRow): boolean => state === "running" && liveness === "running";
    await eventually("all run", async () => (await listed(home)).every(isUp), 60_000);

    const stopListing = keepListing(home);
    const server = await runProgram(
      "tmux",
      ["-S", home.tmuxSocket, "display-message", "-p", "#{pid}"],
      home.environment,
    );
    process.kill(Number(server.stdout), "SIGKILL");
    const waits = await eventually("some say that they wait for others", async () =>
      (await listed(home)).find(({ reason }) => reason.includes("other sessions are started first")),
    );
    expect(waits).toMatchObject({ state: "error", restart_due_at: expect.any(String) as string });
    await eventually(
      "all are back",
      async () => (await listed(home)).every((session) => isUp(session) && session["restarts"] === 1),
      120_000,
    );
    const longest = await stopListing();
    expect(longest).toBeLessThan(LONGEST_ANSWER_MS);

    const events = await home.events();
    expect(events.filter(({ type }) => type === "runtime-lost").map(({ data }) => data["sessions"])).toEqual([
      SESSIONS,
    ]);
    const starts = startsOf(events);
    expect(starts).toHaveLength(SESSIONS);
    // One may have been due before the second began and be committed in it.
    const inOneSecond = starts.map((start) => starts.filter((at) => at >= start && at < start + 1_000).length);
    console.log(`longest answer ${Math.round(longest)} ms, most starts in a second ${Math.max(...inOneSecond)}`);
    expect(Math.max(...inOneSecond)).toBeLessThanOrEqual(MOST_AT_ONCE + STARTS_PER_SECOND + 1);

    const native = (row: SessionRow): unknown => (row["observability"] as { native_id: unknown }).native_id;
    const talker = await home.session("talker");
    expect([native(talker), talker["turns"]]).toEqual([native(before), 1]);
    await home.json("send", "talker", "say more", "--timeout", "20");
    await home.json("wait", "talker", "--for", "turn-completed", "--timeout", "30");
    const { messages } = await home.json<{ messages: { role: string; text: string }[] }>("data", "talker");
    expect(messages.filter(({ role }) => role === "user").map(({ text }) => text)).toEqual(["say hello", "say more"]);
  }),
);
