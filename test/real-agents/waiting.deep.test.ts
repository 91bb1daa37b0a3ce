/**
 * Waiting for the real agents at the speed of a person: the turn is over before anybody waits for
 * it, the reply that is printed is the one of that turn, and the exit code says how it ended.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { eventually } from "../support/eventually.ts";
import { sideBySide } from "../support/side-by-side.ts";
import type { AgentCase } from "./rig.ts";
import { CASES } from "./rig.ts";
import { rigOf } from "./rig-of.ts";
import { endNow, isIdle } from "./session-steps.ts";

const PATIENCE = 120_000;

interface Told {
  readonly status: number | null;
  readonly reason: string;
  readonly session: { readonly turns: number };
  readonly reply: { readonly messages?: readonly { readonly role: string; readonly text: string }[] } | null;
}

sideBySide.each(Object.values<AgentCase>(CASES))("$title", { timeout: 2 * PATIENCE }, (agentCase) => {
  const rig = rigOf(agentCase);

  async function tell(...words: readonly string[]): Promise<Told> {
    const { status, stdout, stderr } = await rig().home.run([...words, "--timeout", "100", "--json"]);
    if (stdout === "") throw new Error(`reeve ${words.join(" ")}: ${stderr}`);
    return { status, ...(JSON.parse(stdout) as Omit<Told, "status">) };
  }

  const said = ({ reply }: Told): readonly string[] =>
    (reply?.messages ?? []).filter(({ role, text }) => role === "assistant" && text !== "").map(({ text }) => text);

  const isOver = (id: string, turns: number): Promise<unknown> =>
    eventually(
      `turn ${turns} is over`,
      async () => (await rig().home.session(id))["turns"] === turns && (await isIdle(rig(), id)),
      PATIENCE,
    );

  test("a start, a send and an answer, each waited for when it is over; --wait prints its reply", async () => {
    const { session_id: id } = await rig().start("[[say the first]]");
    await isOver(id, 1);
    expect(await tell("wait", id)).toMatchObject({ status: 0, reason: "turn-completed", session: { turns: 1 } });
    await rig().home.json("send", id, "[[say the second]]");
    await isOver(id, 2);
    expect(await tell("wait", id)).toMatchObject({ status: 0, reason: "turn-completed", session: { turns: 2 } });

    const third = await tell("send", id, "[[say the third]]", "--wait");
    expect(third).toMatchObject({ status: 0, reason: "turn-completed" });
    expect(said(third)).toEqual(["the third"]);

    const file = join(rig().workDir, "waited-for");
    const asked = await tell("send", id, `[[shell touch ${file}]] [[say made it]]`, "--wait");
    expect(asked).toMatchObject({ status: 12, reason: "awaiting-approval" });
    const approved = await tell("approve", id, "--wait");
    expect(approved).toMatchObject({ status: 0, reason: "turn-completed" });
    expect(said(approved).at(-1)).toBe("made it");
    expect(existsSync(file)).toBe(true);
    expect(await tell("wait", id)).toMatchObject({ status: 0, reason: "turn-completed" });
    await endNow(rig(), id);
  });

  test("a message sent during a turn is answered by its own turn", async () => {
    const { session_id: id } = await rig().start("[[delay 5s]] [[say the first]]");
    await eventually("it works", async () => (await rig().home.session(id))["turns"] === 1, PATIENCE);
    const second = await tell("send", id, "[[say the second]]", "--wait");
    expect(second).toMatchObject({ status: 0, reason: "turn-completed", session: { turns: 2 } });
    expect(said(second)).toEqual(["the second"]);
    await endNow(rig(), id);
  });
});
