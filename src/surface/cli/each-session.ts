/**
 * Does one thing for several sessions: tries all of them, prints each outcome,
 * and exits with the code of the first that failed.
 */
import type { SessionView } from "../../client/operation-types.ts";
import { ReeveError } from "../../platform/reeve-error.ts";
import type { CliContext } from "./command.ts";
import { errorObject, linesOf } from "./failure.ts";
import { oneLine, stateSentence } from "./session-text.ts";

export interface Outcome {
  readonly done: boolean;
  readonly session: SessionView;
  readonly note: string | null;
}

/** One named session answers as HTTP does; several (or `isList`) answer `{done, results}`. */
export async function forEachSession(
  context: CliContext,
  references: readonly string[],
  act: (session: string) => Promise<Outcome>,
  options: { readonly isList?: boolean; readonly tell?: (name: string, session: SessionView) => string } = {},
): Promise<number> {
  const { tell } = options;
  const sentence = ({ session }: Outcome): string =>
    tell === undefined ? stateSentence(session) : tell(oneLine(session.name), session);
  const settled = await Promise.allSettled(
    references.map((reference) => tellWhenDone(context, act(reference), sentence)),
  );
  const failures = settled.flatMap((result) => (result.status === "rejected" ? [toError(result.reason)] : []));
  const [only] = settled;
  if (references.length === 1 && options.isList !== true && only !== undefined) {
    if (only.status === "rejected") throw toError(only.reason);
    if (context.isJson) context.output.printJson(only.value);
    return only.value.done ? 0 : 1;
  }
  if (context.isJson) {
    const results = settled.map((result, index) =>
      result.status === "fulfilled"
        ? result.value
        : { ...errorObject(toError(result.reason)), session: references[index] },
    );
    const isDone = settled.every((result) => result.status === "fulfilled" && result.value.done);
    context.output.printJson({ done: isDone, results });
  } else {
    for (const line of new Set(failures.flatMap(linesOf))) context.output.note(line);
  }
  const isUndone = settled.some((result) => result.status === "fulfilled" && !result.value.done);
  return failures[0]?.exitStatus ?? (isUndone ? 1 : 0);
}

async function tellWhenDone(
  context: CliContext,
  action: Promise<Outcome>,
  sentence: (outcome: Outcome) => string,
): Promise<Outcome> {
  const outcome = await action;
  if (context.isJson) return outcome;
  const { done, session, note } = outcome;
  if (done) context.output.say(sentence(outcome));
  else context.output.note(`Not yet: ${stateSentence(session)} ${note ?? "It is being carried out; see reeve list."}`);
  if (done && note !== null) context.output.note(note);
  return outcome;
}

function toError(error: unknown): ReeveError {
  if (error instanceof ReeveError) return error;
  throw error;
}
