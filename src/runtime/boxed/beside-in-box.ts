/** Runs a program of Reeve's in a box, by the Node that is there: its text is given along, because the box does not see Reeve's files. */
import { readFile } from "node:fs/promises";
import type { Clock } from "../../platform/clock.ts";
import { ReeveError } from "../../platform/reeve-error.ts";
import type { BesideRun } from "../contract.ts";
import type { Transport } from "../transport.ts";

const MOST_BYTES = 1_048_576;
/** The arguments say what, so that nothing of them is code. */
const STARTER = 'cd "$1" && shift && exec "$@"';

export async function runInBox(
  { program, within, cwd, input, timeoutMs }: BesideRun,
  transport: Transport,
  clock: Clock,
): Promise<string> {
  const text = await readFile(program, "utf8");
  const argv = ["/bin/sh", "-c", STARTER, "sh", cwd, ...within, "node", "--input-type=module", "-e", text];
  let printed = "";
  const done = new AbortController();
  const stream = transport.openStream(argv, (chunk) => {
    printed += chunk.toString("utf8");
    // One line is the answer: the stream of some engines stays open for a while.
    if (printed.includes("\n") || printed.length > MOST_BYTES) done.abort();
  });
  stream.write(input.endsWith("\n") ? input : `${input}\n`);
  const late = clock.sleep(timeoutMs, done.signal).then(
    () => `it took longer than ${timeoutMs / 1000} s`,
    () => null,
  );
  const why = await Promise.race([stream.closed, late]);
  done.abort();
  stream.close();
  if (printed.includes("\n")) return printed;
  // As shells say it: sh: 1: exec: node: not found.
  const hasNoNode = /\bnode: (?:command )?not found|\bnode: No such file/i.test(why ?? "");
  throw new ReeveError({
    code: "not-run-beside",
    kind: "unavailable",
    message: `Nothing could be tried in the container: ${why ?? "it ended without an answer"}.`,
    details: hasNoNode ? { why: "its image has no node", lacks: "node" } : { why: why ?? "no answer" },
  });
}
