/** What the commands about manifests share: their mistakes, and outcomes told one by one with progress on a terminal. */
import { writeSync } from "node:fs";
import { isatty } from "node:tty";
import { ReeveError } from "../../platform/reeve-error.ts";
import type { CliContext } from "./command.ts";
import { errorObject } from "./failure.ts";
import { BAD_MANIFEST, mistakeLines } from "./manifest-file.ts";
import { oneLine } from "./session-text.ts";

/** Prints all mistakes of a manifest, and ends with the status for them. */
export async function tellingMistakes(context: CliContext, work: () => Promise<number>): Promise<number> {
  try {
    return await work();
  } catch (error) {
    const lines = mistakeLines(error, context);
    if (lines === null || !(error instanceof ReeveError)) throw error;
    if (context.isJson) context.output.printJson(errorObject(error));
    else for (const line of lines) context.output.note(oneLine(line));
    return BAD_MANIFEST;
  }
}

export interface Task<Outcome> {
  readonly id: string;
  /** What is being done, for the line of progress: "starting". */
  readonly verb: string;
  run(): Promise<Outcome>;
  /** What was done, in a sentence. */
  tell(outcome: Outcome): string;
}

export type Result<Outcome> =
  | { readonly id: string; readonly done: true; readonly outcome: Outcome }
  | { readonly id: string; readonly done: false; readonly error: ReeveError };

/** At most so many at once, begun in their order. What failed is told and does not keep the others. */
export async function carryOutAll<Outcome>(
  context: CliContext,
  tasks: readonly Task<Outcome>[],
  most: number,
): Promise<readonly Result<Outcome>[]> {
  const progress = createProgress(context, tasks.length);
  const results: Result<Outcome>[] = [];
  let next = 0;
  const work = async (): Promise<void> => {
    for (let index = next++; index < tasks.length; index = next++) {
      const task = tasks[index];
      if (task === undefined) return;
      progress.begin(task);
      const result = await resultOf(task);
      results[index] = result;
      progress.end(task, () => {
        if (context.isJson) return;
        if (result.done) context.output.say(task.tell(result.outcome));
        else context.output.note(`${task.id}: ${oneLine(result.error.message)}`);
      });
    }
  };
  await Promise.all(Array.from({ length: Math.min(most, tasks.length) }, work));
  return results;
}

async function resultOf<Outcome>({ id, run }: Task<Outcome>): Promise<Result<Outcome>> {
  try {
    return { id, done: true, outcome: await run() };
  } catch (error) {
    if (!(error instanceof ReeveError)) throw error;
    return { id, done: false, error };
  }
}

/** The exit status of the first that failed. */
export function statusOf(results: readonly Result<unknown>[]): number {
  const failed = results.find((result) => !result.done);
  return failed === undefined || failed.done ? 0 : failed.error.exitStatus;
}

interface Progress {
  begin(task: { readonly id: string; readonly verb: string }): void;
  /** `tell` prints in the place of the line of progress. */
  end(task: { readonly id: string }, tell: () => void): void;
}

const CLEAR_LINE = "\r\u001B[K";

/** One line that is written over, where a person watches; nothing elsewhere. */
function createProgress({ output, isJson }: CliContext, total: number): Progress {
  const isShown = !isJson && output.isTerminal && isatty(2) && total > 1;
  const current = new Map<string, string>();
  let ended = 0;
  const draw = (): void => {
    if (!isShown) return;
    const now = [...current].map(([id, verb]) => `${verb} ${id}`).join(", ");
    const line = now === "" ? "" : `${ended} of ${total}: ${now} …`;
    writeSync(2, `${CLEAR_LINE}${line.slice(0, Math.max(10, (output.width ?? 80) - 1))}`);
  };
  return {
    begin({ id, verb }) {
      current.set(id, verb);
      draw();
    },
    end({ id }, tell) {
      current.delete(id);
      ended += 1;
      if (isShown) writeSync(2, CLEAR_LINE);
      tell();
      draw();
    },
  };
}
