/**
 * Waiting by role with random timing: several sessions of one role are started in a row, some of them fail, and whoever
 * waits for all of them learns it when each has done what it was asked, neither earlier nor otherwise.
 * REEVE_TEST_ROUNDS makes it longer; REEVE_TEST_SEED=… takes other moments.
 */
import { afterAll, beforeAll, expect, test } from "vitest";
import { createRandom } from "../truth/random.ts";
import { createTestHome, type TestHome } from "../support/test-home.ts";

const ROUNDS = Number(process.env["REEVE_TEST_ROUNDS"] ?? 5);
const SEED = process.env["REEVE_TEST_SEED"] ?? String(Date.now());

let home: TestHome;
beforeAll(() => {
  home = createTestHome();
});
afterAll(() => home.dispose());

interface Waited {
  readonly ok: boolean;
  readonly reason: string;
  readonly woken: readonly { readonly name: string; readonly reason: string }[];
}

test(
  `in each of ${ROUNDS} rounds the whole of a role is waited for (REEVE_TEST_SEED=${SEED})`,
  async () => {
    const { next, int, chance, pick } = createRandom(SEED);
    const pause = async (longestMs: number): Promise<void> => {
      const ms = chance(0.5) ? 0 : int(0, longestMs);
      await new Promise((resolve) => setTimeout(resolve, ms));
    };
    for (let round = 0; round < ROUNDS; round += 1) {
      const role = `r${round}`;
      const names = Array.from({ length: int(1, 4) }, (_, index) => `${role}-${index}`);
      const failing = chance(0.3) ? pick(names) : undefined;
      for (const name of names) {
        const seconds = chance(0.3) ? 0 : next().toFixed(2);
        await home.json(
          "start",
          "practice",
          "--name",
          name,
          "--role",
          role,
          name === failing ? "fail it" : `sleep ${seconds}`,
        );
        await pause(300);
      }
      await pause(1_500);
      const { status, stdout } = await home.run(["wait", "--role", role, "--all", "--json", "--timeout", "120"]);
      const said = `round ${round} (${names.length} sessions, ${failing ?? "none"} fails): ${stdout}`;
      const waited = JSON.parse(stdout) as Waited;
      expect(status, said).toBe(failing === undefined ? 0 : 10);
      expect(waited.woken.map(({ name }) => name).toSorted(), said).toEqual(names);
      for (const { name, reason } of waited.woken)
        expect(reason, said).toBe(name === failing ? "turn-failed" : "turn-completed");
      for (const name of names) expect(await home.session(name), said).toMatchObject({ turns: 1, turn_open: false });
      await home.json("end", ...names, "--when", "now");
    }
  },
  60_000 + ROUNDS * 30_000,
);
