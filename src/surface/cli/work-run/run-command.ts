/** `reeve work run` as a command: its options, Ctrl-C, what it says at the end, and its exit status. */
import { callerEnvironment } from "../caller-environment.ts";
import type { CliContext, CommandInput } from "../command.ts";
import { INTERRUPTED } from "../exit-codes.ts";
import { tellingMistakes } from "../manifest-command.ts";
import { verifyOfProject } from "../manifest-file.ts";
import { oneLine } from "../session-text.ts";
import type { Plan, RunOptions } from "./carry-out.ts";
import { createProgress } from "./progress.ts";
import { type RunOutcome, runWork } from "./pump.ts";

export function runCommand(input: CommandInput, context: CliContext): Promise<number> {
  return tellingMistakes(context, async () => await carryOut(await optionsOf(input, context), context));
}

async function carryOut(options: RunOptions, context: CliContext): Promise<number> {
  const { output } = context;
  const client = context.client();
  const interruption = interruptible();
  const progress = createProgress(output, context.isJson);
  try {
    const outcome = await runWork({ client, options, progress, signal: interruption.signal });
    progress.close();
    const isInterrupted = outcome.ended === "interrupted";
    if (isInterrupted && options.endWorkers)
      for (const { session_id: session, pooled } of outcome.plan.workers)
        if (pooled) await client.endSession({ session, timeout_seconds: 0 }, { idempotencyKey: crypto.randomUUID() });
    if (context.isJson) output.printJson(viewOutcome(outcome, progress));
    else for (const sentence of sentencesOf(outcome, progress, options)) output.say(sentence);
    if (isInterrupted) return INTERRUPTED;
    return outcome.ended === "done" && progress.failed.size === 0 ? 0 : 1;
  } finally {
    progress.close();
    interruption.close();
  }
}

async function optionsOf(input: CommandInput, context: CliContext): Promise<RunOptions> {
  const verify = input.text("verify");
  const given = verify === undefined ? await verifyOfProject(context) : ["sh", "-c", verify];
  const seconds = input.number("verify-timeout");
  return {
    agent: input.text("agent"),
    cwd: context.cwd(),
    verify: verify === "" ? undefined : given,
    verifyTimeoutMs: seconds === undefined ? undefined : seconds * 1_000,
    mostWorkers: input.number("most-workers"),
    reuse: !input.flag("no-reuse"),
    worktree: input.flag("worktree"),
    watch: input.flag("watch"),
    endWorkers: input.flag("end-workers"),
    environment: callerEnvironment(context),
  };
}

/** The first Ctrl-C stops giving out work, the second one everything. */
function interruptible(): { readonly signal: AbortSignal; close(): void } {
  const controller = new AbortController();
  const interrupt = (): void => {
    if (controller.signal.aborted) process.exit(INTERRUPTED);
    controller.abort();
  };
  process.removeAllListeners("SIGINT");
  process.on("SIGINT", interrupt);
  return { signal: controller.signal, close: () => void process.removeListener("SIGINT", interrupt) };
}

interface Counted {
  readonly done: ReadonlySet<string>;
  readonly failed: ReadonlyMap<string, string>;
}

function viewOutcome({ ended, plan, troubles }: RunOutcome, { done, failed }: Counted) {
  return {
    ended,
    done: done.size,
    failed: [...failed].map(([id, why]) => ({ work_id: id, why })),
    open: plan.open,
    states: plan.states,
    held: plan.held,
    troubles: troubles.map(({ workId, text }) => ({ work_id: workId, text })),
    workers: plan.workers,
    cursor: plan.cursor,
  };
}

function sentencesOf({ ended, plan, troubles }: RunOutcome, counted: Counted, options: RunOptions): readonly string[] {
  const { done, failed } = counted;
  const failures = [...failed].map(([id, why]) => `${id} failed: ${oneLine(why)}`);
  const tried = troubles.map(({ workId, title, text }) => `${workId} (${oneLine(title ?? "")}): ${oneLine(text)}`);
  const sum = `${items(done.size)} done${failed.size === 0 ? "" : `, ${failed.size} failed`}${plan.open === 0 ? "" : `, ${plan.open} open`}.`;
  if (ended === "done") return [...failures, sum];
  const waiting = plan.held.map(({ work_id: id, title, text }) => `${id} (${oneLine(title ?? "")}): ${oneLine(text)}`);
  if (ended === "stuck")
    return [...failures, ...waiting, ...tried, `${sum} Nothing can go on without you: see reeve work list.`];
  return [...failures, `${sum} No more is given out. ${workersSentence(plan, options)}`];
}

function workersSentence({ workers }: Plan, { endWorkers }: RunOptions): string {
  const names = workers.map(({ session }) => session).join(", ");
  if (names === "") return "Go on with: reeve work run";
  if (endWorkers) return `These workers are ended after their turns: ${names}.`;
  return `These workers go on: ${names}. Read what they did and go on with: reeve work run`;
}

function items(count: number): string {
  return count === 1 ? "1 item" : `${count} items`;
}
