/**
 * What is typed into a real agent whose terminal changes its size, so that old frames of it may stay on the screen, while
 * the daemon is killed at random moments, many of them between paste and Enter. Each prompt that reaches the model is one
 * message and nothing else, at most once, and the session takes the next message after each kill.
 * REEVE_TEST_OLD_FRAMES=200 makes it the long run, REEVE_TEST_AGENT=gemini takes one agent alone.
 */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { eventually } from "../support/eventually.ts";
import { operatorOf } from "../support/session-caller.ts";
import { runProgram } from "../support/test-home.ts";
import { createRandom, type Random } from "../truth/random.ts";
import type { Rig } from "./rig.ts";
import { CASES, createRig, disposeWhole } from "./rig.ts";
import { endNow, isIdle } from "./session-steps.ts";

const ROUNDS = Number(process.env["REEVE_TEST_OLD_FRAMES"] ?? 3);
const SEED = process.env["REEVE_TEST_SEED"] ?? "frames";
const ONLY = process.env["REEVE_TEST_AGENT"];

/** What Gemini CLI shows above its input, twice. */
const OLD_FRAME = /Shift\+Tab to accept edits[^]*Shift\+Tab to accept edits/;

const typed = [CASES.gemini, CASES.claude, CASES.codexHooks].filter(
  ({ agent }) => ONLY === undefined || agent === ONLY,
);

describe.each(typed)("$title", { timeout: 240_000 + ROUNDS * 60_000 }, (agentCase) => {
  let rig: Rig;
  let id = "";
  beforeAll(async () => {
    rig = await createRig(agentCase);
    ({ session_id: id } = await rig.start("[[say ready]]"));
    await rig.wait(id, "--since", "0", "--for", "turn-completed");
  }, 120_000);
  afterAll(() => disposeWhole(rig), 60_000);

  test(`${ROUNDS} messages at random moments reach the model as they are, at most once`, async () => {
    const random = createRandom(SEED);
    const told = { kills: 0, delivered: 0, unknown: 0, frames: 0 };
    for (let round = 0; round < ROUNDS; round += 1) {
      const before = rig.asked().length;
      if (random.chance(0.5)) await resize(random);
      const text = textOf(round, random);
      const state = await sendThroughKill(text, random);
      const next = `[[say the next]] ${round}`;
      // Every screen is part of the story where this fails.
      const about = async (): Promise<string> => `round ${round} of seed ${SEED}: ${state}\n${await visible()}`;
      const sent = await rig.home.json("send", id, next, "--timeout", "60");
      expect(sent, await about()).toMatchObject({ state: "delivered" });
      await eventually("it is idle again", async () => (await isIdle(rig, id)) && isAnswered(next), 90_000);
      const prompts = promptsAfter(before);
      const both = [squeezed(text), squeezed(next)];
      expect(state === "delivered" ? [both] : [both, [squeezed(next)]], await about()).toContainEqual(prompts);
      told.kills += 1;
      if (state === "delivered") told.delivered += 1;
      else told.unknown += 1;
      if (OLD_FRAME.test(await visible())) told.frames += 1;
    }
    console.log(`${agentCase.title}: ${ROUNDS} rounds, ${JSON.stringify(told)}`);
    await endNow(rig, id);
  });

  /** The daemon dies some time after the message was admitted. What became of it: delivered, refused or unknown. */
  async function sendThroughKill(text: string, random: Random): Promise<string> {
    const operator = operatorOf(rig.home, { enduranceMs: 120_000 });
    const { message_id: message, cursor } = await operator.sendMessage({ session: id, text, timeout_seconds: 0 });
    await sleep(random.int(0, 500));
    if (random.chance(0.5)) await resize(random);
    await sleep(random.int(0, 500));
    rig.home.killRunningDaemon();
    return await eventually(
      "its outcome is known",
      async () => {
        const { events } = await operator.readEvents({ session: id, since: cursor });
        const outcome = events.find(
          ({ type, data }) => data["message_id"] === message && /^message-(?:delivered|refused|unknown)$/.test(type),
        );
        return outcome?.type.replace("message-", "");
      },
      120_000,
    );
  }

  /** Without what has scrolled away. */
  async function visible(): Promise<string> {
    const words = ["-S", rig.home.tmuxSocket, "capture-pane", "-p", "-t", id];
    return (await runProgram("tmux", words, rig.home.environment)).stdout;
  }

  async function resize(random: Random): Promise<void> {
    const size = ["-x", `${random.int(60, 110)}`, "-y", `${random.int(16, 40)}`];
    await runProgram("tmux", ["-S", rig.home.tmuxSocket, "resize-window", "-t", id, ...size], rig.home.environment);
  }

  const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

  function isAnswered(text: string): boolean {
    return rig.asked().some(({ prompt, outcome }) => squeezed(prompt) === squeezed(text) && outcome === "answered");
  }

  /** A request that is repeated, after a tool or an error, is about the same prompt. */
  function promptsAfter(before: number): readonly string[] {
    const prompts = rig.asked().slice(before);
    return prompts.map(({ prompt }) => squeezed(prompt)).filter((prompt, index, all) => prompt !== all[index - 1]);
  }
});

function textOf(round: number, random: Random): string {
  const said = `[[say done ${round}]]`;
  switch (random.int(0, 3)) {
    case 0:
      return `${said} ${"long ".repeat(random.int(200, 300))}`.trimEnd();
    case 1:
      return `${said}\nand one more line`;
    case 2:
      return `! ${said} with a shell's mark`;
    default:
      return `${said} short`;
  }
}

/** Tabs become blanks, ends are trimmed, and Reeve itself puts a zero-width space or a blank where a shell would start. */
function squeezed(text: string): string {
  return text.replaceAll(/[\s\u200b]+/gu, " ").trim();
}
