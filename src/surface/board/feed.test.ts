/** When the feed asks: at once after an event, once more when the agent's last words are read, and not while nobody is there. */
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { EventView, SessionView } from "../../client/operation-types.ts";
import { session, working } from "./board-fixture.ts";
import { startFeed } from "./feed.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** A daemon with these sessions, whose events and death come from the test. */
function feedOf(...sessions: readonly SessionView[]) {
  const over = new AbortController();
  const known = new Map(sessions.map((one) => [one.session_id, one]));
  const asked: string[] = [];
  const lines: string[] = [];
  let tell: (event: Partial<EventView>) => void = () => undefined;
  let link: (to: "reached" | "lost") => void = () => undefined;
  const listAs = (who: string) => () => {
    asked.push(who);
    return Promise.resolve({ sessions: [...known.values()], cursor: 1 });
  };
  const feed = startFeed(
    {
      client: { listSessions: listAs("list") },
      watcher: {
        listSessions: listAs("list, if it runs"),
        getSession: ({ session: id }) => {
          asked.push(id);
          return Promise.resolve(known.get(id) ?? session(id));
        },
        listApprovals: () => Promise.resolve({ approvals: [], cursor: 1 }),
        async *followEvents(_input, { onLink } = {}) {
          link = (to) => onLink?.(to);
          while (!over.signal.aborted) yield await new Promise<EventView>((resolve) => (tell = resolve as typeof tell));
        },
      },
    },
    {
      onSessions: (all) => void lines.push([...all.values()].map(({ headline }) => headline).join()),
      onTouched: () => undefined,
      onLink: () => undefined,
    },
    over.signal,
  );
  return {
    asked,
    lines,
    over,
    refresh: () => feed.refresh(),
    tell: (id: string) => tell({ session_id: id, type: "turn-completed" }),
    link: (to: "reached" | "lost") => link(to),
    says: (id: string, headline: string) => known.set(id, session(id, { headline, revision: 2 })),
  };
}

const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms);

describe("the feed", () => {
  it("asks nothing of sessions at rest", async () => {
    const feed = feedOf(session("a"), session("b"));
    await pass(60_000);
    expect(feed.asked).toEqual(["list"]);
    feed.over.abort();
  });

  it("looks again after an event: what the agent said comes without one", async () => {
    const feed = feedOf(session("a"), session("b"));
    await pass(0);
    feed.tell("a");
    await pass(100);
    feed.says("a", "All 12 tests pass.");
    await pass(60_000);
    expect(feed.asked).toEqual(["list", "a", "a"]);
    expect(feed.lines.at(-1)).toBe("All 12 tests pass.,");
    feed.over.abort();
  });

  it("looks while a turn is open, unless the daemon is away", async () => {
    const feed = feedOf(working("a"), session("b"));
    await pass(4_100);
    expect(feed.asked).toEqual(["list", "a", "a"]);
    feed.link("lost");
    await pass(60_000);
    expect(feed.asked).toEqual(["list", "a", "a"]);
    feed.link("reached");
    await pass(2_300);
    expect(feed.asked).toEqual(["list", "a", "a", "list, if it runs", "a"]);
    feed.over.abort();
  });

  it("starts the daemon only for the first look and when the person asks for one", async () => {
    const feed = feedOf(session("a"));
    await pass(0);
    feed.link("lost");
    feed.link("reached");
    await pass(1_000);
    expect(feed.asked).toEqual(["list", "list, if it runs"]);
    feed.refresh();
    await pass(1_000);
    expect(feed.asked).toEqual(["list", "list, if it runs", "list"]);
    feed.over.abort();
  });
});
