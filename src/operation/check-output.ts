/**
 * An answer, checked against the schema that says what the operation answers.
 * Only for callers that ask for it: of a list of 100 sessions it takes about
 * 3 ms, several times as long as everything else (decision 34). What is wrong
 * goes to the log, without values; the caller learns that something is.
 */
import * as z from "zod/mini";
import type { Log } from "../platform/log.ts";
import { ReeveError } from "../platform/reeve-error.ts";
import type { Operation } from "./contract.ts";

const MOST_TOLD = 5;

export function checkOutput({ name, output }: Operation, answer: unknown, log: Log): void {
  const result = z.safeParse(output, answer);
  if (result.success) return;
  const wrong = result.error.issues.slice(0, MOST_TOLD).map(({ path, code }) => `${path.join(".")}: ${code}`);
  log("an answer is not what its operation says", { operation: name, wrong });
  throw new ReeveError({
    code: "wrong-answer",
    kind: "internal",
    message: `Reeve made an answer to ${name} that is not what it should be; see reeve daemon logs, and please report it.`,
  });
}
