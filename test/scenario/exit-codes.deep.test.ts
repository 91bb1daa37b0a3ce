/**
 * What a script may rely on: 0 only if what was waited for happened, a code of its own for everything
 * else, and no wait for what cannot happen any more.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { askSession } from "../support/ask-daemon.ts";
import { eventually } from "../support/eventually.ts";
import { pressInPane } from "../support/pane.ts";
import type { TestHome } from "../support/test-home.ts";
import { createTestHome, runProgram } from "../support/test-home.ts";

const ROOT = join(import.meta.dirname, "..", "..");

let home: TestHome;
let patient: TestHome;
/** Here a turn has stalled soon; anywhere else that could come before what a test does in a turn. */
let impatient: TestHome;
let name = "";
let count = 0;
beforeAll(() => {
  patient = createTestHome();
  impatient = createTestHome();
  impatient.configure("[sessions]\nstall_seconds = 2\n");
});
beforeEach(() => {
  home = patient;
  name = `worker-${++count}`;
});
afterAll(async () => {
  await patient.dispose();
  await impatient.dispose();
});

const becomes = (activity: string): Promise<unknown> =>
  eventually(`it is ${activity}`, async () => (await askSession(home, name))?.["activity"] === activity);

/** What happens to a session in its turn, and the code of whoever waits for it. */
const ENDS: readonly {
  readonly what: string;
  readonly prompt: string;
  readonly reason: string;
  readonly status: number;
  readonly act?: (id: string) => Promise<unknown>;
}[] = [
  { what: "the turn completes", prompt: "say hello", reason: "turn-completed", status: 0 },
  { what: "the turn fails", prompt: "fail with 429", reason: "turn-failed", status: 10 },
  {
    what: "the turn is interrupted",
    prompt: "sleep 100",
    reason: "turn-interrupted",
    status: 11,
    act: (id) => pressInPane(home, id, "Escape"),
  },
  { what: "it asks for an approval", prompt: "ask rm -r build", reason: "awaiting-approval", status: 12 },
  { what: "its process dies", prompt: "crash", reason: "exited", status: 14 },
  {
    what: "it is ended",
    prompt: "sleep 100",
    reason: "exited",
    status: 14,
    act: () => home.json("end", name, "--when", "now"),
  },
  { what: "nothing is heard of it", prompt: "sleep 101", reason: "stalled", status: 15 },
];

async function meanwhile(act: ((id: string) => Promise<unknown>) | undefined): Promise<void> {
  if (act === undefined) return;
  const { session_id } = await eventually("it works", async () => {
    const session = await askSession(home, name);
    return session?.["activity"] === "working" && session;
  });
  await act(session_id);
}

describe.each(ENDS)("when $what", ({ prompt, reason, status, act }) => {
  beforeEach(() => {
    home = reason === "stalled" ? impatient : patient;
  });

  test(`start --wait ends with ${status}`, async () => {
    const [result] = await Promise.all([
      home.run(["start", "practice", "--name", name, prompt, "--wait", "--json"]),
      meanwhile(act),
    ]);
    expect({ status: result.status, ...(JSON.parse(result.stdout) as object) }).toMatchObject({
      status,
      done: true,
      reason,
    });
  });

  test(`send --wait ends with ${status}`, async () => {
    await home.json("start", "practice", "--name", name);
    await becomes("idle");
    const [result] = await Promise.all([home.run(["send", name, prompt, "--wait", "--json"]), meanwhile(act)]);
    expect({ status: result.status, ...(JSON.parse(result.stdout) as object) }).toMatchObject({
      status,
      done: true,
      reason,
    });
  });

  test(`wait ends with ${status}; for turn-completed it returns too`, async () => {
    await home.json("start", "practice", "--name", name, prompt);
    const words = ["wait", name, "--json", "--timeout", "60"];
    // A turn that has stalled may still complete.
    const isBar = reason !== "stalled";
    const [plain, narrow] = await Promise.all([
      home.run(words),
      isBar ? home.run([...words, "--for", "turn-completed"]) : null,
      meanwhile(act),
    ]);
    expect({ status: plain.status, ...(JSON.parse(plain.stdout) as object) }).toMatchObject({
      status,
      done: true,
      reason,
    });
    if (narrow === null) return;
    const isOk = status === 0;
    expect({ status: narrow.status, ...(JSON.parse(narrow.stdout) as object) }).toMatchObject({
      status,
      done: isOk,
      ok: isOk,
      reason,
    });
  });
});

test("an agent that waits for something that is no approval: 13", async () => {
  home.configure(
    `[agent.asks]\ncommand = ["sh", "-c", "printf 'Name? '; read x"]\nready = '^never$'\nwaiting = '^Name\\?'\n`,
  );
  await home.json("daemon", "stop");
  const { status, stdout } = await home.run(["start", "asks", "--name", name, "--wait", "--json"]);
  expect({ status, ...(JSON.parse(stdout) as object) }).toMatchObject({ status: 13, reason: "awaiting-input" });
});

test("a question that is answered: approve --wait and deny --wait tell of the rest of the turn", async () => {
  for (const verb of ["approve", "deny"]) {
    const asker = `${name}-${verb}`;
    await home.run(["start", "practice", "--name", asker, "ask rm -r build", "--wait"]);
    const { status, stdout } = await home.run([verb, asker, "--wait", "--json"]);
    expect({ status, ...(JSON.parse(stdout) as object) }).toMatchObject({
      status: 0,
      ok: true,
      reason: "turn-completed",
    });
    const again = await home.run([verb, asker, "--wait", "--json"]);
    expect(again.status).toBe(1);
  }
});

test.each([
  [0, "exit 0"],
  [14, "exit 3"],
])("a program without turns: %i for %s", async (status, script) => {
  const result = await home.run(["start", "command", "--name", name, "--wait", "--json", "--", "sh", "-c", script]);
  expect({ status: result.status, ...(JSON.parse(result.stdout) as object) }).toMatchObject({
    status,
    reason: "exited",
  });
  expect((await home.run(["wait", name])).status).toBe(status);
  // Whoever waits for the exit itself has it.
  expect((await home.run(["wait", name, "--for", "exited"])).status).toBe(0);
  expect((await home.run(["wait", name, "--for", "turn-completed"])).status).toBe(16);
});

test.each([
  ["say hello", true],
  ["fail with 429", false],
  ["ask rm -r build", false],
  ["crash", false],
])("&& deploy after %s: %s", async (prompt, isDeployed) => {
  const reeve = join(ROOT, "bin", "reeve");
  const lines = [
    `'${reeve}' start practice --name ${name} '${prompt}' --wait && touch ${name}-start`,
    `'${reeve}' wait ${name} && touch ${name}-wait`,
    `'${reeve}' wait ${name} --for turn-completed && touch ${name}-for`,
  ];
  for (const line of lines) await runProgram("sh", ["-c", `cd '${home.dir}' && ${line}`], home.environment);
  for (const what of ["start", "wait", "for"])
    expect(existsSync(join(home.dir, `${name}-${what}`)), what).toBe(isDeployed);
});

test("other reasons return too when they cannot happen any more", async () => {
  await home.json("start", "practice", "--name", name, "say hello");
  const wait = async (...words: readonly string[]): Promise<object> => {
    const { status, stdout } = await home.run(["wait", name, "--json", "--timeout", "60", ...words]);
    return { status, ...(JSON.parse(stdout) as object) };
  };
  const completed = { status: 17, done: false, reason: "turn-completed" };
  expect(await wait("--for", "awaiting-approval")).toMatchObject(completed);
  expect(await wait("--for", "turn-failed", "--for", "stalled")).toMatchObject(completed);
  expect(await wait("--for", "awaiting-input", "--since", "0")).toMatchObject(completed);
});

test("time-out: 75, also of --wait", async () => {
  await home.json("start", "practice", "--name", name, "sleep 1");
  await becomes("working");
  expect((await home.run(["wait", name, "--timeout", "0"])).status).toBe(75);
  expect((await home.run(["send", name, "say hello", "--wait", "--timeout", "0"])).status).toBe(75);
  const started = await home.run(["start", "practice", "--name", `${name}-b`, "sleep 9", "--wait", "--timeout", "0"]);
  expect(started.status).toBe(75);
  expect((await home.run(["start", "practice", "--timeout", "1"])).status).toBe(2);
});

test("of several: any is the one that woke, all is the first that did not do well", async () => {
  const [good, bad, asks, idle] = ["good", "bad", "asks", "idle"].map((kind) => `${name}-${kind}`) as [
    string,
    string,
    string,
    string,
  ];
  await home.json("start", "practice", "--name", good, "say hello");
  await home.json("start", "practice", "--name", bad, "fail with 429");
  await home.json("start", "practice", "--name", asks, "ask rm");
  await home.json("start", "practice", "--name", idle);
  const status = async (...words: readonly string[]): Promise<number | null> =>
    (await home.run(["wait", ...words, "--timeout", "60"])).status;
  expect(await status(good, bad, asks, "--all")).toBe(10);
  expect(await status(asks, good, bad, "--all")).toBe(12);
  expect(await status(good, "--all")).toBe(0);
  // Any: one that has what is waited for is enough, whatever the others did.
  expect(await status(idle, good)).toBe(0);
  expect(await status(bad, asks, good, "--for", "turn-completed")).toBe(0);
  expect(await status(bad, asks, "--for", "turn-completed")).toBe(10);
  expect(await status(idle, idle)).toBe(16);
});

test("the table in --help is the one in the code", async () => {
  const { stdout } = await home.run(["help", "exit-codes", "--json"]);
  const { exit_codes: codes } = JSON.parse(stdout) as { exit_codes: { code: number; name: string }[] };
  expect(codes.map(({ code }) => code)).toEqual([0, 1, 2, 10, 11, 12, 13, 14, 15, 16, 17, 69, 75, 77, 78, 130, 141]);
  expect((await home.run(["help", "exit-codes"])).stdout).toMatch(/\n +12 +awaiting-approval: /);
});
