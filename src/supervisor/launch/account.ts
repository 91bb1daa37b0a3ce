/** Whose limits a session draws on, as its agent reads it from the session's environment and the user's files. */
import type { Agent } from "../../agent/contract.ts";
import type { SessionFiles } from "../../runtime/session-files.ts";
import type { Launch } from "../../session/session.ts";
import type { Environment } from "./environment.ts";
import { withFiles } from "./user-file.ts";

/** Null where the agent has none, or it cannot be told: that keeps nobody from starting. */
export async function accountIn(
  { readAccount }: Pick<Agent, "readAccount">,
  files: Pick<SessionFiles, "read">,
  context: { readonly environment: Environment; readonly launch: Launch },
): Promise<string | null> {
  if (readAccount === undefined) return null;
  return await withFiles(files, (read) => readAccount({ ...context, read })).catch(() => null);
}
