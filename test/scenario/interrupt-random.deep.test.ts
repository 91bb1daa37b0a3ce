/**
 * Interrupts at random moments: before the turn that they are about is typed, while it begins and while it is under way,
 * behind messages that wait, while the daemon is killed. The agent's own transcript tells what happened: the turn under
 * way is stopped, no message's turn is, and what interrupts is taken before what waited.
 * REEVE_TEST_INTERRUPTS=200 makes it the long run.
 */
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { parseTranscriptLine, type TranscriptLine } from "../../src/agent/practice/transcript-line.ts";
import { askSession } from "../support/ask-daemon.ts";
import { eventually } from "../support/eventually.ts";
import { readIfThere } from "../support/read-if-there.ts";
import { operatorOf } from "../support/session-caller.ts";
import type { SessionRow, TestHome } from "../support/test-home.ts";
import { createTestHome } from "../support/test-home.ts";
import { createRandom, type Random } from "../truth/random.ts";

const ROUNDS = Number(process.env["REEVE_TEST_INTERRUPTS"] ?? 6);
const SEED = process.env["REEVE_TEST_SEED"] ?? "interrupts";
const NAME = "busy";

let home: TestHome;
beforeAll(() => {
  home = createTestHome();
});
afterAll(() => home.dispose(), 120_000);

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

interface Turn {
  readonly prompt: string;
  end: TranscriptLine["type"] | null;
}

/** What the agent itself wrote down. */
async function turns(): Promise<readonly Turn[]> {
  const { outputs_dir: directory } = await session();
  const text = readIfThere(join(String(directory), "transcript.jsonl")) ?? "";
  const found: Turn[] = [];
  for (const line of text.split("\n").map(parseTranscriptLine)) {
    if (line?.type === "user") found.push({ prompt: line.text, end: null });
    const last = found.at(-1);
    if (line !== null && last !== undefined && /^turn_(?:completed|interrupted|failed)$/.test(line.type))
      last.end = line.type;
  }
  return found;
}

const session = (): Promise<SessionRow> => eventually("the daemon answers", () => askSession(home, NAME));

interface Round {
  readonly isUnderWay: boolean;
  readonly isKilled: boolean;
  readonly isMessage: boolean;
  readonly queued: readonly string[];
}

test(
  `${ROUNDS} interrupts at random moments stop the turn under way and nothing else`,
  { timeout: 120_000 + ROUNDS * 20_000 },
  async () => {
    const random = createRandom(SEED);
    await home.json("start", "practice", "--name", NAME);
    await eventually("it is idle", async () => (await session())["activity"] === "idle");
    const told = { underWay: 0, killed: 0, overtaken: 0 };
    for (let round = 0; round < ROUNDS; round += 1) {
      const planned: Round = {
        isUnderWay: random.chance(0.6),
        isKilled: random.chance(0.2),
        isMessage: random.chance(0.6),
        queued: Array.from({ length: random.int(0, 3) }, (_, index) => `queued ${round}.${index}`),
      };
      const before = (await turns()).length;
      const wasOvertaken = await play(round, planned, random);
      const about = `round ${round} of seed ${SEED}: ${JSON.stringify(planned)}`;
      requireRight((await turns()).slice(before), { round, planned, about });
      told.underWay += planned.isUnderWay ? 1 : 0;
      told.killed += planned.isKilled ? 1 : 0;
      told.overtaken += wasOvertaken ? 1 : 0;
    }
    console.log(`${ROUNDS} interrupts: ${JSON.stringify(told)}`);
  },
);

/** Until nothing is left to do. True: the interrupt came before the turn, which then had to be stopped by another one. */
async function play(
  round: number,
  { isUnderWay, isKilled, isMessage, queued }: Round,
  random: Random,
): Promise<boolean> {
  const operator = operatorOf(home, { enduranceMs: 120_000 });
  const send = (text: string, how: "queue" | "interrupt" = "queue") =>
    operator.sendMessage({ session: NAME, text, how, timeout_seconds: 0 });
  await send(`sleep 1000 ${round}`);
  if (isUnderWay) await eventually("it works", async () => (await session())["activity"] === "working");
  for (const text of queued) await send(text);
  await sleep(random.int(0, 400));
  const killing = isKilled ? sleep(random.int(0, 150)).then(() => home.killRunningDaemon()) : null;
  if (isMessage) await send(`urgent ${round}`, "interrupt");
  else await operator.interruptSession({ session: NAME });
  await killing;
  let wasOvertaken = false;
  await eventually(
    `round ${round} is over`,
    async () => {
      const { messages } = await operator.listMessages({ session: NAME });
      const { activity, turn_open: isOpen } = await session();
      const isSleeping = (await turns()).at(-1)?.prompt === `sleep 1000 ${round}`;
      const isUrgentDone = messages.every(({ how }) => how !== "interrupt");
      // It went ahead of the turn that it might have stopped.
      if (!isUnderWay && isSleeping && isOpen === true && isUrgentDone) {
        wasOvertaken = true;
        await operator.interruptSession({ session: NAME });
      }
      return messages.length === 0 && activity === "idle" && isOpen === false;
    },
    180_000,
  );
  return wasOvertaken;
}

function requireRight(
  found: readonly Turn[],
  { round, planned, about }: { readonly round: number; readonly planned: Round; readonly about: string },
): void {
  const { isUnderWay, isKilled, isMessage, queued } = planned;
  const slept = `sleep 1000 ${round}`;
  const urgent = isMessage ? [`urgent ${round}`] : [];
  const prompts = found.map(({ prompt }) => prompt);
  expect(prompts.toSorted(), about).toEqual([...new Set(prompts)].toSorted());
  const wanted = isUnderWay ? [slept, ...urgent, ...queued] : null;
  // Of one that was being typed when the daemon was killed, it may not be known whether it arrived.
  if (wanted !== null && isKilled)
    expect(
      wanted.filter((prompt) => prompts.includes(prompt)),
      about,
    ).toEqual(prompts);
  else if (wanted !== null) expect(prompts, about).toEqual(wanted);
  else
    expect(
      prompts.filter((prompt) => queued.includes(prompt)),
      about,
    ).toEqual(isKilled ? expect.anything() : queued);
  for (const { prompt, end } of found)
    expect([about, prompt, end]).toEqual([about, prompt, prompt === slept ? "turn_interrupted" : "turn_completed"]);
}
