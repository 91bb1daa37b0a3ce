/** `reeve work run` with the real agents as workers: a chain of two items, whose second is sent back once by its verification. */
import { afterEach, expect, test } from "vitest";
import type { Rig } from "./rig.ts";
import { CASES, createRig, disposeWhole } from "./rig.ts";

let rig: Rig;
afterEach(() => disposeWhole(rig), 60_000);

test.each([CASES.claude, CASES.codexAppServer, CASES.gemini])("$title", { timeout: 180_000 }, async (agentCase) => {
  rig = await createRig(agentCase);
  const add = async (title: string, ...words: readonly string[]): Promise<string> => {
    const line = [
      "work",
      "add",
      title,
      `[[say ${title} is written]]`,
      "--agent",
      agentCase.agent,
      "--cwd",
      rig.workDir,
    ];
    return (await rig.home.json<{ work_id: string }>(...line, ...words)).work_id;
  };
  const first = await add("the parser");
  // Fails the first time.
  const second = await add("the printer", "--depends-on", first, "--verify", "test -e tried || ! touch tried");

  const run = await rig.home.run(["work", "run", "--most-workers", "1", "--json"], {
    environment: rig.user.environment,
    cwd: rig.workDir,
  });
  expect(JSON.parse(run.stdout)).toMatchObject({ ended: "done", done: 2, failed: [], open: 0, workers: [] });
  expect(run.status).toBe(0);
  expect(await rig.home.json("work", "show", first)).toMatchObject({
    state: "done",
    result: { text: "the parser is written" },
  });
  expect(await rig.home.json("work", "show", second)).toMatchObject({ state: "done", rounds: 1 });
  const sessions = await rig.home.list();
  expect(sessions.map(({ state }) => state)).toEqual(["stopped"]);
  expect(rig.home.marked(sessions[0]?.session_id ?? "")).toEqual([]);
});
