/**
 * Who reads an answer on a terminal has seen it, and every surface learns that.
 * Programs (--json, a pipe) do not look on anybody's behalf: they say so with
 * `reeve seen`, or not at all.
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
