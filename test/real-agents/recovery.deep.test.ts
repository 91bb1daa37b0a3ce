/**
 * A real agent is killed in the middle of a tool call, in a dirty
 * checkout, during a rebase, with two unread mails, forty old wakes and a
 * hand-off. `recover` tells all of it, in less than 4 KB.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { locateHome } from "../../src/platform/home.ts";
import { systemClock } from "../../src/platform/clock.ts";
import { openStore } from "../../src/store/open-store.ts";
import { eventually } from "../support/eventually.ts";
import { createGitRepository } from "../support/git-repository.ts";
import { insideOf } from "../support/session-caller.ts";
import type { EventRow } from "../support/test-home.ts";
import type { Rig } from "./rig.ts";
import { CASES } from "./rig.ts";
import { rigOf } from "./rig-of.ts";
import { endNow, isIdle } from "./session-steps.ts";

const repository = createGitRepository();
afterAll(() => repository.dispose());

const rig = rigOf(CASES.claude, { agentHome: { trust: [repository.root] } });

interface Recovery {
  readonly text: string;
  readonly sections: readonly {
    readonly section: string;
    readonly statements: readonly { readonly text: string; readonly source: string; readonly known: boolean }[];
  }[];
}

const OLD_WAKES = 40;

test("recover tells all of it", { timeout: 300_000 }, async () => {
  const { home } = rig();
  repository.git("config", "user.name", "Somebody");
  repository.git("config", "user.email", "somebody@example.invalid");
  repository.git("switch", "--quiet", "feature");
  repository.commit("own", "of feature\n");
  repository.git("switch", "--quiet", "main");
  repository.commit("same", "of main\n");
  repository.git("switch", "--quiet", "feature");
  const options = ["--name", "builder", "--branch", "feature"];
  const { session_id: id } = await rig().start("[[say ready]]", { cwd: repository.root, options });
  await eventually("its first turn is over", async () => (await turnsOf(rig(), id)).length === 1, 120_000);
  await recordOldWakes(id);
  await home.json("mail", "send", "builder", "It is slow in large files.", "--subject", "About the parser");
  await home.json("mail", "send", "builder", "All of it.", "--subject", "Take over the lexer", "--hand-off");
  await eventually("it was woken for its mail", async () => (await wakesOf(rig(), id)).length > OLD_WAKES, 120_000);
  await eventually("it is idle", () => isIdle(rig(), id), 120_000);

  const prompt = "[[shell git rebase main; touch notes.txt; sleep 3600]] [[say done]]";
  await home.json("send", "builder", prompt, "--timeout", "60");
  await eventually("it asks", async () => (await home.session(id))["activity"] === "awaiting-approval", 120_000);
  await home.json("approve", id);
  await eventually("the tool runs, in the rebase", () => existsSync(join(repository.root, "notes.txt")), 120_000);
  await eventually("its call is written down", async () => (await lastCall(rig(), id)).includes("sleep 3600"), 120_000);
  await kill(rig(), id);

  // All but the one that brought the hand-off; the note may have had a wake of its own.
  const noise = (await wakesOf(rig(), id)).length - 1;
  expect(noise).toBeGreaterThanOrEqual(OLD_WAKES);
  const dead = await home.run(["recover", "builder"]);
  expect(dead.status).toBe(0);
  expect(Buffer.byteLength(dead.stdout)).toBeLessThan(4_096);
  expectTold(dead.stdout, noise);
  expect(dead.stdout).toContain("since its process ended");
  expect(dead.stdout).toContain("To go on with it: reeve restart builder");

  await rig().restart("builder");
  await eventually("it is idle again", () => isIdle(rig(), id), 120_000);
  await home.killDaemon();
  await home.daemonPid();

  const environment = await insideOf(home, { session_id: id });
  const own = await home.run(["recover"], { environment });
  expect(own).toMatchObject({ status: 0 });
  expect(Buffer.byteLength(own.stdout)).toBeLessThan(4_096);
  expectTold(own.stdout, noise);
  expect(own.stdout).toContain("HEAD did not move while it was away");
  const whole = await home.json<Recovery>("recover", "builder");
  expect(whole.sections.map(({ section }) => section).slice(0, 5)).toEqual([
    "mail",
    "wakes",
    "prompt",
    "checkout",
    "turn",
  ]);
  const unknown = whole.sections.filter(({ statements }) => statements.some(({ known }) => !known));
  // But for the layers, which a busy machine may not have looked at in time.
  expect(unknown.map(({ section }) => section).filter((section) => section !== "layers")).toEqual([]);
  // Who asks for a restart says what is to be done next (test/scenario/recover.test.ts has the others).
  expect(await recoveryWakes(rig(), id)).toEqual([]);
  await endNow(rig(), id);
});

function expectTold(text: string, noise: number): void {
  expect(text).toMatch(/^Unread mail: 2 mails, 1 hand-off\./m);
  expect(text).toMatch(/^- hand-off mail-\S+ from the operator: "Take over the lexer"; it begins "All of it\."/m);
  expect(text).toMatch(/^- note mail-\S+ from the operator: "About the parser"/m);
  expect(text).toMatch(new RegExp(String.raw`^Wakes: .*; ${noise} old, noise`, "m"));
  expect(text).toMatch(/^- Wake \d+ is old, but its hand-off mail-\S+ is still unread: not noise\./m);
  expect(text).toMatch(/^Newest prompt: "\[\[shell git rebase main; .*\(transcript, /m);
  expect(text).toMatch(
    /^Checkout: on commit [0-9a-f]{8} \(a rebase of feature\), NOT on feature as declared; 1 in conf/m,
  );
  expect(text).toMatch(/^- Under way: a rebase of feature\./m);
  expect(text).toMatch(/^- In conflict: same /m);
  expect(text).toMatch(/^- Untracked: notes\.txt /m);
  expect(text).toMatch(/^Last turn: turn \d+ was cut short: its process ended in the middle of it\./m);
  expect(text).toMatch(/^- It stopped in the tool call Bash ".*sleep 3600.*which has no result/m);
  expect(text).toMatch(/Finish a rebase of feature before anything else/);
  // A busy machine has no time for it within the report.
  expect(text).toMatch(/^Layers:(?: they were not looked at; .*reeve doctor builder|[^]*\b(?:healthy|unknown)\b)/m);
}

/** As the daemon would have, while none runs: forty turns of a real agent would take minutes. */
async function recordOldWakes(id: string): Promise<void> {
  const { home } = rig();
  await home.json("daemon", "stop");
  const { databasePath, outputsDir, instancePath } = locateHome(home.environment);
  const store = await openStore({
    databasePath,
    outputsRoot: outputsDir,
    instancePath,
    clock: systemClock,
    log: () => undefined,
    reserveBytes: 0,
  });
  try {
    const since = store.log.head();
    await store.commit({
      events: Array.from({ length: OLD_WAKES }, (_, index) => ({
        sessionId: id,
        body: { type: "wake-sent", messageId: `m-old-${index}`, since: since - 1, through: since, count: 1 },
      })),
    });
  } finally {
    await store.close();
  }
}

async function eventsOf(of: Rig, id: string, type: string): Promise<readonly EventRow[]> {
  return (await of.events(id)).filter((event) => event.type === type);
}

const turnsOf = (of: Rig, id: string): Promise<readonly EventRow[]> => eventsOf(of, id, "turn-completed");
const wakesOf = (of: Rig, id: string): Promise<readonly EventRow[]> => eventsOf(of, id, "wake-sent");

async function recoveryWakes(of: Rig, id: string): Promise<readonly EventRow[]> {
  return (await wakesOf(of, id)).filter(({ data }) => data["is_recovery"] === true);
}

async function lastCall(of: Rig, id: string): Promise<string> {
  const { messages = [] } = await of.home.json<{
    readonly messages?: readonly { readonly tool: { readonly input: string | null } | null }[];
  }>("data", id);
  return messages.findLast(({ tool }) => tool !== null)?.tool?.input ?? "";
}

async function kill(of: Rig, id: string): Promise<void> {
  for (const { pid } of of.home.marked(id)) {
    try {
      process.kill(pid, "SIGKILL");
    } catch {
      // It went with its parent.
    }
  }
  await eventually("its end is proven", async () => (await eventsOf(of, id, "session-exited")).length > 0, 60_000);
}
