/**
 * What a user decides the size of, and what one session does, is not felt by the others: arguments of megabytes, and a
 * tmux that does not answer.
 */
import { writeFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { isAlive } from "../../src/platform/process-table.ts";
import type { Target } from "../../src/runtime/contract.ts";
import { paneCommands } from "../../src/runtime/driver/pane.ts";
import type { Place } from "../../src/session/session.ts";
import { eventually } from "../support/eventually.ts";
import { first, second, useGround } from "./runtime-ground.ts";
import { makeTmuxFixture, panePlace } from "./tmux-fixture.ts";

const other: Target = { sessionId: "other", incarnation: 1 };
/** 1.8 MB, which the kernel takes. */
const many = Array.from({ length: 900 }, (_, index) => `${index} `.padEnd(2_000, "it's *"));
const COUNTS =
  "import sys; open('got', 'w').write(f'{len(sys.argv)} {sum(map(len, sys.argv[1:]))} {sys.argv[-1][:4]}')";
const counting = `${COUNTS}; import time; time.sleep(100)`;

describe("a session with 1.8 MB of arguments", () => {
  const ground = useGround(() => makeTmuxFixture());

  /** What tmux prints for a listing, as it is asked for one. */
  function listed(): readonly string[] {
    const { text } = paneCommands(ground.fixture.instance).all();
    writeFileSync(ground.path("listing"), `${text}\n`);
    const lines = ground.fixture.tmux("source-file", ground.path("listing")).trim().split("\n");
    return lines.filter((line) => line.includes(ground.fixture.instance));
  }

  it("gets all of them, also when it starts again, and makes no listing longer", async () => {
    await ground.runtime.create(ground.shell(other, "sleep 100"));
    const [small = ""] = listed();
    await ground.runtime.create(ground.request(first, ["python3", "-c", counting, ...many]));
    await eventually("it has them", async () => (await ground.written("got")) === "901 1800000 899 ");
    const lines = listed();
    expect(lines).toHaveLength(2);
    for (const line of lines) expect(line.length).toBeLessThan(small.length + 10);
    const command = ground.fixture.tmux("display-message", "-p", "-t", "=one:", "#{pane_start_command}");
    expect(command.length).toBeLessThan(1_000);
    expect(ground.fixture.tmux("show-environment", "-t", "=one")).not.toContain("REEVE_ARGUMENTS");

    expect(await ground.runtime.stop(first, { graceMs: 100 })).toMatchObject({ survivors: [] });
    await ground.put("got", "");
    await ground.runtime.create(ground.request(second, ["python3", "-c", counting, ...many], { environment: null }));
    await eventually("it has them again", async () => (await ground.written("got")) === "901 1800000 899 ");
  });

  it.each([
    ["one string that no program can be given", ["true", "x".repeat(131_072)], {}],
    ["more than 2 MB", ["true", ...many, ...many], {}],
    ["a variable that no program can be given", ["true"], { BIG: "x".repeat(200_000) }],
  ])("is refused with %s before tmux is asked for anything", async (_, argv, extraEnvironment) => {
    await expect(ground.runtime.create(ground.request(first, argv, { extraEnvironment }))).rejects.toMatchObject({
      code: "start-too-large",
      kind: "usage",
    });
    expect(await ground.runtime.list()).toMatchObject({ reachable: true, entries: [] });
  });
});

describe("while tmux does not answer", () => {
  const places = new Map<string, Place>();
  const ground = useGround(() => makeTmuxFixture({ recordedPlace: ({ sessionId }) => places.get(sessionId) ?? null }));

  it("a session is ended, and what has ended is known, by the kernel alone", async () => {
    for (const target of [first, other]) {
      const { place } = await ground.runtime.create(ground.shell(target, "sleep 100"));
      places.set(target.sessionId, place);
    }
    const placeOf = ({ sessionId }: Target): Place => places.get(sessionId) ?? {};
    const server = ground.fixture.serverPid();
    process.kill(server, "SIGSTOP");
    try {
      expect(await ground.runtime.observe(first)).toMatchObject({ status: "unreachable" });
      expect(await ground.runtime.list()).toMatchObject({ reachable: false });
      expect(await ground.runtime.stop(first, { graceMs: 200 })).toMatchObject({ survivors: [] });
      expect(await ground.runtime.observe(first)).toMatchObject({ status: "exited" });
      const known = [first, other].map((target) => ({ target, place: placeOf(target) }));
      expect(ground.runtime.endedUnasked?.(known)).toMatchObject([{ ...first, presence: { status: "exited" } }]);
      // Its terminal goes later; one in which something runs does not.
      await ground.runtime.destroy(first);
      await expect(ground.runtime.destroy(other)).rejects.toMatchObject({ code: "runtime-unreachable" });
    } finally {
      process.kill(server, "SIGCONT");
    }
    await eventually("it answers again", async () => (await ground.runtime.observe(other)).status === "running");
    const { pid, startTicks } = panePlace(placeOf(other));
    expect(isAlive(pid, startTicks)).toBe(true);
    await ground.runtime.destroy(first);
    expect(await ground.runtime.observe(first)).toMatchObject({ status: "absent" });
  });
});
