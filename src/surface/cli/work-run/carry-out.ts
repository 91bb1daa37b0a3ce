/**
 * Does one step of the plan with the operations that everybody uses. Each change
 * has a key that follows from the item and its revision, so a run that is killed
 * and repeated, or a second one beside it, makes it once; and a report names the
 * revision it is about, so nothing is said of an item that went on meanwhile.
 */
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import type { Client } from "../../../client/create-client.ts";
import type { OutputOf } from "../../../client/operation-types.ts";
import { keepTail, stripTerminal } from "../../../platform/terminal-text.ts";
import { replyTo } from "../reply.ts";
import { runVerification } from "./verification.ts";

export type Plan = OutputOf<"planWork">;
export type Step = Plan["steps"][number];

export interface RunOptions {
  readonly agent: string | undefined;
  readonly cwd: string;
  readonly verify: readonly string[] | undefined;
  /** Instead of that of the settings. */
  readonly verifyTimeoutMs: number | undefined;
  readonly mostWorkers: number | undefined;
  readonly reuse: boolean;
  /** Each new worker gets a worktree. */
  readonly worktree: boolean;
  /** It goes on when nothing is left, and waits for new items. */
  readonly watch: boolean;
  readonly endWorkers: boolean;
  readonly environment: Readonly<Record<string, string>>;
}

export interface Carrying {
  readonly client: Client;
  readonly options: RunOptions;
  /** How long a verification may take. */
  readonly verifyTimeoutMs: number;
  readonly signal: AbortSignal;
}

/** What takes long is not waited for before the next step is done. */
export function isLong({ action, verify }: Step): boolean {
  return action === "end-session" || (action === "review" && verify !== null);
}

/** Gives an item out: in the order of the plan, and only if nothing came before it. */
export function givesOut({ action }: Step): boolean {
  return action === "dispatch" || action === "fix";
}

/** The same as long as the same is to be done. */
export function keyOf({ action, work_id: work, session_id: session, revision, turns }: Step): string {
  return ["run", action, work ?? session, revision ?? 0, action === "send-details" ? turns : 0].join(".");
}

export async function carryOut(step: Step, carrying: Carrying): Promise<void> {
  const { client } = carrying;
  const key = { idempotencyKey: keyOf(step) };
  const { work_id: work, session_id: session } = step;
  switch (step.action) {
    case "dispatch":
      return session === null ? await start(step, carrying) : await send(step, client, true);
    case "fix":
      return await send(step, client, true);
    case "send-details":
      return await send(step, client, false);
    case "read":
      return await report(step, client, { change: "built", text: await replyOf(client, session ?? "") });
    case "review":
      return step.verify === null
        ? await report(step, client, { change: "approve", text: TAKEN_AS_IT_IS })
        : await verify(step, step.verify, carrying);
    case "finalise":
      return await report(step, client, { change: "finalise" });
    case "done":
      return await report({ ...step, commit: null }, client, { change: "done" });
    case "end-session":
      await client.endSession(
        { session: session ?? "", when: "if-free" },
        { idempotencyKey: `${key.idempotencyKey}.${crypto.randomUUID()}` },
      );
      return;
    case "prepare":
    case "wait":
    case "escalate":
    case "none":
      throw new Error(`${step.action} of ${work} is no step`);
  }
}

const TAKEN_AS_IT_IS =
  "Taken as it was built by reeve work run: the item names no verification command, and needs no review.";

async function start(step: Step, { client, options }: Carrying): Promise<void> {
  const { work_id: work, agent, cwd, branch } = step;
  const isElsewhere = branch !== null && (await branchOf(cwd ?? "", options)) !== branch;
  await client.startSession(
    {
      work: work ?? "",
      pooled: true,
      environment: options.environment,
      ...(agent === null ? {} : { agent }),
      ...(cwd === null ? {} : { cwd }),
      ...(isElsewhere || options.worktree ? { worktree: true } : {}),
    },
    { idempotencyKey: keyOf(step) },
  );
}

/** Null: it is in no repository, or on no branch. */
async function branchOf(cwd: string, { environment }: RunOptions): Promise<string | null> {
  try {
    const asked = ["-C", cwd, "symbolic-ref", "--quiet", "--short", "HEAD"];
    const { stdout } = await promisify(execFile)("git", asked, { env: { ...environment } });
    return stdout.trim();
  } catch {
    return null;
  }
}

async function send(step: Step, client: Client, isGiven: boolean): Promise<void> {
  const { work_id: work, session_id: session, message } = step;
  await client.sendMessage(
    {
      session: session ?? "",
      text: message ?? "",
      timeout_seconds: 0,
      ...(isGiven && work !== null ? { work } : {}),
    },
    { idempotencyKey: keyOf(step) },
  );
}

type Report = Pick<Parameters<Client["changeWork"]>[0], "change" | "text" | "exit_code">;

async function report(step: Step, client: Client, said: Report): Promise<void> {
  const { work_id: work, revision, commit } = step;
  await client.changeWork(
    {
      work: work ?? "",
      ...said,
      ...(commit === null ? {} : { commits: [commit] }),
      ...(revision === null ? {} : { revision }),
    },
    { idempotencyKey: keyOf(step) },
  );
}

const MOST_RESULT_BYTES = 8_192;

/** What the worker said last: its result. */
async function replyOf(client: Client, session: string): Promise<string> {
  const { messages, text } = await replyTo(client, session, { text: null, since: null }, true);
  const said = messages?.findLast(({ role, text: words }) => role === "assistant" && words.trim() !== "")?.text;
  return keepTail(stripTerminal(said ?? text ?? ""), MOST_RESULT_BYTES).trim();
}

async function verify(step: Step, argv: readonly string[], carrying: Carrying): Promise<void> {
  const { client, options, verifyTimeoutMs, signal } = carrying;
  const { environment, cwd } = options;
  const request = { argv, cwd: step.cwd ?? cwd, environment, timeoutMs: verifyTimeoutMs, signal };
  const { exitCode, text } = await runVerification(request);
  // Nobody waited for its end.
  if (signal.aborted) return;
  await report(step, client, { change: "verified", exit_code: exitCode, text });
}
