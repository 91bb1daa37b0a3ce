/**
 * At the end of a turn in which nothing was remembered the
 * agent's own stop hook reminds it, once (decision 70). A turn that the
 * reminder prolongs is one turn, and is over when that part is.
 */
import { readdirSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { REMINDER } from "../../src/agent/reminder.ts";
import { call, lookFor, toolName } from "./orchestrator.ts";
import { CASES, type Rig } from "./rig.ts";
import { rigOf } from "./rig-of.ts";
import { endNow, happened } from "./session-steps.ts";

const CONFIG = "[role.writer]\nmemory_reminder = true\n";

describe.each([CASES.claude, CASES.codexHooks, CASES.codexAppServer, CASES.gemini])(
  "$title",
  { timeout: 180_000 },
  (agentCase) => {
    const { agent } = agentCase;
    /** What the model does when it is reminded; by default it only repeats what it was told. */
    const meanings: Record<string, string> = {};
    const rig = rigOf(agentCase, { config: CONFIG, model: { meanings } });
    const remember = (text: string): string =>
      `${lookFor(agent, [toolName(agent, "add_memory")])} ${call(agent, "add_memory", { text })}`;

    test("it is reminded once, unless it has remembered something, and its turn ends once", async () => {
      const { session_id: id } = await rig().start("[[say one]]", {
        options: ["--role", "writer", "--name", "scribe"],
      });

      // It does not care, and is not asked again.
      let cursor = await completed(rig(), id, "0");
      expect(reminders(rig())).toBe(1);
      expect(rig().asked()).toHaveLength(2);
      expect(await memories(rig())).toEqual([]);

      meanings[REMINDER] = `${remember("kept when reminded")} [[say two again]]`;
      await rig().home.json("send", id, "[[say two]]");
      cursor = await completed(rig(), id, cursor);
      expect(reminders(rig())).toBe(2);
      expect(await memories(rig())).toEqual([{ text: "kept when reminded", session_id: id, turn: 2 }]);

      await rig().home.json("send", id, `${remember("kept by itself")} [[say three]]`);
      await completed(rig(), id, cursor);
      expect(reminders(rig())).toBe(2);
      expect((await memories(rig())).map(({ text }) => text)).toEqual(["kept by itself", "kept when reminded"]);

      const turn = ["turn-started", "turn-completed"];
      expect(await happened(rig(), id, "turn-")).toEqual([...turn, ...turn, ...turn]);
      await endNow(rig(), id);
    });

    test.runIf(agent === "claude")("by default nothing is different", async () => {
      const before = rig().asked().length;
      const { session_id: id } = await rig().start("[[say one]]", { options: ["--role", "reader"] });
      await completed(rig(), id, "0");
      expect(rig().asked()).toHaveLength(before + 1);
      const files = readdirSync(String((await rig().home.session(id))["outputs_dir"]));
      expect(files.filter((name) => /hook|reminder/.test(name))).toEqual(["hook.sh"]);
      await endNow(rig(), id);
    });
  },
);

/** Its next turn is over, and nobody was asked for anything in it; returns where the log is then. */
async function completed(rig: Rig, id: string, since: string): Promise<string> {
  const { reason, cursor, session } = await rig.wait(id, "--since", since);
  expect({ reason, asks: session.asks }).toEqual({ reason: "turn-completed", asks: null });
  return String(cursor);
}

/** How often the conversation was prolonged by the reminder: each time it is the newest text in it at first. */
function reminders(rig: Rig): number {
  return rig.asked().filter(({ prompt, results }) => prompt === REMINDER && results.length === 0).length;
}

interface MemoryRow {
  readonly text: string;
  readonly session_id: string;
  readonly turn: number;
}

async function memories(rig: Rig): Promise<readonly MemoryRow[]> {
  const listed = await rig.home.json<{ readonly memories: readonly MemoryRow[] }>("memory", "list", "--all");
  return listed.memories.map(({ text, session_id, turn }) => ({ text, session_id, turn }));
}
