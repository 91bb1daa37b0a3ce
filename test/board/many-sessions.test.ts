/** The board over 200 running sessions: keys are followed, and what happens in some of them is seen. */
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { daemonCommand } from "../../src/client/daemon-command.ts";
import { childrenOf } from "../../src/platform/process-table.ts";
import { createBenchHome, startIdleSessions } from "../bench/support/bench-home.ts";
import type { HttpClient } from "../bench/support/http-client.ts";
import { createHttpClient } from "../bench/support/http-client.ts";
import { createScope } from "../bench/support/scope.ts";
import type { SessionRow } from "../support/test-home.ts";
import type { BoardRig } from "./board-rig.ts";
import { openBoard } from "./board-rig.ts";

const SESSIONS = 200;
const ROOT = join(import.meta.dirname, "..", "..");

/** Ends by signals what it started: to end 200 sessions one by one takes longer than all that is tested here. */
const scope = createScope();
let board: BoardRig;
let client: HttpClient;
beforeAll(async () => {
  const home = createBenchHome(scope, { daemon: daemonCommand(ROOT).slice(1) });
  await home.startDaemon();
  await startIdleSessions(scope, home, SESSIONS);
  client = createHttpClient(scope, home.socketPath);
  board = await openBoard(home, { columns: 100, rows: 30 });
  scope.defer(() => board.close());
}, 90_000);
afterAll(() => scope.end(), 60_000);

async function sessions(): Promise<readonly SessionRow[]> {
  return (await client.getJson<{ sessions: readonly SessionRow[] }>("/v1/sessions")).sessions;
}

/** The program itself, not the shell that waits for it. */
function kill({ runtime }: SessionRow): void {
  const [pid = Number.NaN] = childrenOf(runtime.pid ?? Number.NaN);
  process.kill(pid, "SIGKILL");
}

test("all of them are counted, and keys move through them", async () => {
  await board.shows(/^Reeve {2}200 working .* 1 of 200$/m);
  await board.press("G");
  await board.shows("200 of 200");
  await board.press("k", "k", "Up");
  await board.shows("197 of 200");
  await board.press("g");
  await board.shows(/ 1 of 200$/m);
  for (let times = 0; times < 50; times += 1) await board.press("j");
  await board.shows("51 of 200");
});

test("/ finds one of them", async () => {
  await board.press("/");
  await board.type("command-123");
  await board.press("Enter");
  await board.shows(/ 1 of 1$/m);
  await board.shows(/^> command-123 .*working/m);
  await board.press("Escape");
  await board.shows("of 200");
});

test("one that dies is seen on top, while the selection stays", async () => {
  const dies = (await sessions()).find(({ name }) => name === "command-177");
  if (dies === undefined) throw new Error("it was started");
  kill(dies);
  await board.shows("1 failed · 199 working");
  await board.shows(/^> command-123 /m);
  await board.press("g");
  await board.row("command-177", "failed .*SIGKILL");
});

test("twenty that die at once are all counted", async () => {
  const alive = (await sessions()).filter(({ state }) => state === "running");
  for (const session of alive.slice(0, 20)) kill(session);
  await board.shows("21 failed · 179 working");
  expect((await sessions()).filter(({ state }) => state === "error")).toHaveLength(21);
});
