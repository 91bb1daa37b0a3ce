/**
 * Once Reeve has said that a message was taken, `data` shows it, or says that the transcript is behind: six sessions at
 * once on a machine that also has two loops to run. REEVE_TEST_ROUNDS makes it longer.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createTestHome, type TestHome } from "../support/test-home.ts";

const ROUNDS = Number(process.env["REEVE_TEST_ROUNDS"] ?? 8);
const SESSIONS = ["a", "b", "c", "d", "e", "f"];

let home: TestHome;
let loops: readonly ChildProcess[];
beforeAll(() => {
  home = createTestHome();
  loops = [1, 2].map(() => spawn("sh", ["-c", "while :; do :; done"], { stdio: "ignore" }));
});
afterAll(async () => {
  for (const loop of loops) loop.kill("SIGKILL");
  await home.dispose();
});

interface Said {
  readonly messages: readonly { readonly role: string; readonly text: string }[];
  readonly note: string;
}

test(
  `in each of ${ROUNDS} rounds with ${SESSIONS.length} sessions what was delivered is in the data`,
  async () => {
    await Promise.all(SESSIONS.map((name) => home.json("start", "practice", "--name", name)));
    let behind = 0;
    const lanes = SESSIONS.map(async (name) => {
      for (let round = 0; round < ROUNDS; round += 1) {
        const text = `what is ${round} to ${name}?`;
        expect(await home.json("send", name, text, "--timeout", "60")).toMatchObject({ state: "delivered" });
        const said = await home.json<Said>("data", name);
        if (said.note.includes("behind")) behind += 1;
        else expect(said.messages).toContainEqual(expect.objectContaining({ role: "user", text }));
      }
    });
    await Promise.all(lanes);
    console.log(`${SESSIONS.length * ROUNDS} messages, ${behind} times the transcript was said to be behind`);
  },
  60_000 + ROUNDS * 30_000,
);
