/** What a program in a session has of Reeve: the session's pass, and the variables by which `reeve` calls as that session. */
import { join } from "node:path";
import { readEnvironmentVariable } from "../../src/platform/process-table.ts";
import { eventually } from "./eventually.ts";
import type { SessionRow, TestHome } from "./test-home.ts";

/** As it stands in the environment of the program that runs now. */
export async function passOf(home: TestHome, { session_id }: Pick<SessionRow, "session_id">): Promise<string> {
  return await eventually("its program runs", () =>
    home
      .marked(session_id)
      .map(({ pid }) => readEnvironmentVariable(pid, "REEVE_PASS"))
      .findLast((found) => found !== null),
  );
}

export async function insideOf(
  home: TestHome,
  session: Pick<SessionRow, "session_id">,
): Promise<Readonly<Record<string, string>>> {
  return {
    REEVE_SESSION_ID: session.session_id,
    REEVE_PASS: await passOf(home, session),
    REEVE_SOCKET: join(home.dir, "run", "call.sock"),
  };
}
