/**
 * A home in which the build before this one runs
 * sessions is taken over by this one, however the earlier daemon ended.
 */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { eventually } from "../support/eventually.ts";
import { createTestHome, type SessionRow, type TestHome } from "../support/test-home.ts";
import { type EarlierBuild, hasEarlierBuild, makeEarlierBuild } from "./earlier-build.ts";

let earlier: EarlierBuild;
let home: TestHome;

// Without the repository's history there is no earlier build to run; src/store/earlier-home.test.ts has what one wrote.
describe.skipIf(!hasEarlierBuild())("a home of the build before", () => {
  beforeAll(async () => {
    earlier = await makeEarlierBuild();
  }, 120_000);
  afterAll(() => earlier.remove());
  beforeEach(() => {
    home = createTestHome();
  });
  afterEach(() => home.dispose());

  const before = async <T>(...args: readonly string[]): Promise<T> => {
    const separator = args.indexOf("--");
    const at = separator === -1 ? args.length : separator;
    const result = await home.run([...args.slice(0, at), "--json", ...args.slice(at)], { root: earlier.root });
    if (result.status !== 0) throw new Error(`${args.join(" ")}: ${result.stdout}${result.stderr}`);
    return JSON.parse(result.stdout) as T;
  };
  const rows = async (): Promise<readonly SessionRow[]> =>
    (await before<{ sessions: SessionRow[] }>("list", "--all")).sessions;

  const ENDS: Readonly<Record<string, (pid: number) => Promise<unknown>>> = {
    "kill -9": async (pid) => process.kill(pid, "SIGKILL"),
    "daemon stop": () => before("daemon", "stop"),
  };

  test.each(Object.keys(ENDS))("its living sessions are adopted after %s", { timeout: 120_000 }, async (how) => {
    await before("start", "command", "--name", "server", "--", "sleep", "600");
    await before("start", "command", "--name", "over", "--", "true");
    await before("start", "practice", "--name", "helper", "say hello");
    await before("start", "practice", "--name", "asker", "ask before you continue");
    await before("start", "practice", "--name", "held", "say hello");
    await eventually("all have come to rest", async () =>
      (await rows()).every(({ name, state, activity }) => isAtRest(name, state, String(activity))),
    );
    await before("pause", "held");
    await before("send", "held", "say this later");
    const then = await rows();
    const log = await before<{ events: readonly unknown[] }>("events", "--since", "0");
    const { pid } = await before<{ pid: number }>("daemon", "status");
    home.expectDeath(pid);
    await ENDS[how]?.(pid);

    const now = await home.list();
    const facts = (row: SessionRow) => ({
      id: row.session_id,
      name: row.name,
      state: row.state,
      desired: row.desired,
      liveness: row.liveness,
      pid: row.runtime.pid,
      turns: row["turns"],
      role: row["role"],
      agent: row["agent"],
    });
    const byName = (list: readonly SessionRow[]) => list.map(facts).toSorted((a, b) => a.name.localeCompare(b.name));
    expect(byName(now)).toEqual(byName(then));
    const told = (await home.events()).slice(0, log.events.length);
    expect(told.map(({ seq, type, session_id }) => ({ seq, type, session_id }))).toEqual(
      (log.events as typeof told).map(({ seq, type, session_id }) => ({ seq, type, session_id })),
    );

    // It goes on as if nothing had been in between: the message that waited, the question, a new turn.
    await home.json("resume", "held");
    await eventually("the message that waited is answered", async () =>
      (await home.run(["data", "held"])).stdout.includes("this later"),
    );
    await home.json("approve", "asker");
    expect(await home.json("send", "helper", "say it again", "--wait")).toMatchObject({ reason: "turn-completed" });
    await home.json("end", "--all", "--when", "now");
    expect(home.marked()).toEqual([]);

    // The way back is refused in a sentence, and changes nothing.
    await home.json("daemon", "stop");
    const back = await home.run(["list"], { root: earlier.root });
    expect(back.status).not.toBe(0);
    expect(back.stderr).toContain("newer");
    expect((await home.list()).every(({ state: ended }) => ended === "stopped" || ended === "error")).toBe(true);
  });
});

function isAtRest(name: string, state: string, activity: string): boolean {
  if (name === "server") return state === "running";
  if (name === "over") return state !== "starting" && state !== "running";
  return activity === (name === "asker" ? "awaiting-approval" : "idle");
}
