/**
 * A Stop hook of the user's own that makes the agent go on: Reeve's hook runs
 * beside it and tells of the stop, but the agent is not idle while it works on,
 * and its last end is told, too.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { eventually } from "../support/eventually.ts";
import { CASES } from "./rig.ts";
import { rigOf } from "./rig-of.ts";
import { endNow, happened } from "./session-steps.ts";

const TURN = ["turn-started", "turn-completed"];

describe.each([
  { agentCase: CASES.claude, settings: ".claude/settings.json", event: "Stop" },
  { agentCase: CASES.gemini, settings: ".gemini/settings.json", event: "AfterAgent" },
])("$agentCase.title", { timeout: 180_000 }, ({ agentCase, settings, event }) => {
  const rig = rigOf(agentCase);

  test("it works while it goes on, takes what was sent afterwards, and each stop is an end", async () => {
    const { dir } = rig().user;
    const script = join(dir, "once-more.sh");
    const answer = JSON.stringify({ decision: "block", reason: "[[delay 4s]] [[say second]]" });
    writeFileSync(
      script,
      `#!/bin/sh\ncat > /dev/null\nmkdir ${dir}/blocked 2> /dev/null && echo '${answer}'\nexit 0\n`,
      {
        mode: 0o755,
      },
    );
    const path = join(dir, settings);
    const own = JSON.parse(readFileSync(path, "utf8")) as object;
    const hooks = { [event]: [{ hooks: [{ type: "command", command: script }] }] };
    writeFileSync(path, JSON.stringify({ ...own, hooks }));

    const { session_id: id } = await rig().start("[[say first]]");
    const goesOn = (): boolean =>
      rig()
        .asked()
        .some(({ prompt }) => prompt.includes("[[say second]]"));
    await eventually("its own hook made it go on", goesOn, 60_000);
    const { activity, turn_open: isOpen } = await eventually("that is known", async () => {
      const session = await rig().home.session(id);
      return session["turns"] === 2 && session;
    });
    expect({ activity, isOpen }).toEqual({ activity: "working", isOpen: true });
    await rig().home.json("send", id, "[[say third]]");
    await eventually("it is all done", async () => (await happened(rig(), id, "turn-completed")).length === 3, 60_000);
    expect(await happened(rig(), id, "turn-")).toEqual([...TURN, ...TURN, ...TURN]);
    expect(rig().asked().at(-1)?.prompt).toContain("[[say third]]");
    await endNow(rig(), id);
  });
});
