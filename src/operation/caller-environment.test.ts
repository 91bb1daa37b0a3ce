/** What a worker starts with: agents hide variables from the tools through which they call (decision 37). */
import { afterEach, beforeEach, expect, test } from "vitest";
import { inertRuntime } from "../runtime/inert-runtime.ts";
import { OPERATOR } from "../session/caller.ts";
import { broughtBy } from "./caller-environment.ts";
import { type DoorGround, makeDoorGround } from "./door-fixture.ts";

const IN_PROCESS = { PATH: "/bin", MODEL_KEY: "k", HOME: "/u" };
const GIVEN = { PATH: "/venv/bin:/bin", EXTRA: "1" };
const BOSS = { kind: "session", id: "boss" } as const;

let environmentOf = async (): Promise<Readonly<Record<string, string>> | null> => IN_PROCESS;
let ground: DoorGround;
beforeEach(async () => {
  const runtime = { ...inertRuntime("tmux", "There is no tmux here."), environmentOf: () => environmentOf() };
  ground = await makeDoorGround([], { runtime });
});
afterEach(() => ground.dispose());

test("a session's worker has what its own process has, and on top what it brought", async () => {
  expect(await broughtBy(BOSS, GIVEN, ground)).toEqual({ ...IN_PROCESS, ...GIVEN });
});

test("the operator's has what the operator brought", async () => {
  expect(await broughtBy(OPERATOR, GIVEN, ground)).toEqual(GIVEN);
});

test.each([
  ["is gone", async () => null],
  [
    "cannot be asked",
    async () => {
      throw new Error("unreachable");
    },
  ],
])("where the process %s, what was brought is all there is", async (_how, answer) => {
  environmentOf = answer;
  expect(await broughtBy(BOSS, GIVEN, ground)).toEqual(GIVEN);
});
