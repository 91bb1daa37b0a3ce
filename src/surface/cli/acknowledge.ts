/**
 * Records that a person has seen an answer, if it was shown on a terminal.
 * Output for a program (--json, a pipe) does not count as seen; a script can
 * use `reeve seen`.
 */
import type { Client } from "../../client/create-client.ts";
import type { SessionView } from "../../client/operation-types.ts";
import { ReeveError } from "../../platform/reeve-error.ts";
import type { CliContext } from "./command.ts";

/** As it was in this view: what happened since stays unseen. */
export async function acknowledge(
  { isJson, output }: Pick<CliContext, "isJson" | "output">,
  client: Pick<Client, "acknowledgeSession">,
  { session_id: session, revision, unseen }: Pick<SessionView, "session_id" | "revision" | "unseen">,
): Promise<void> {
  if (isJson || !output.isTerminal || !unseen) return;
  try {
    await client.acknowledgeSession({ session, revision });
  } catch (error) {
    // What was asked for has been shown; that it was is not worth an error.
    if (!(error instanceof ReeveError)) throw error;
  }
}
