/** The pass of a session, as it stands in the environment of the program that runs now. */
import { readEnvironmentVariable } from "../../src/platform/process-table.ts";
import { eventually } from "./eventually.ts";
import type { SessionRow, TestHome } from "./test-home.ts";

export async function passOf(home: TestHome, { session_id }: Pick<SessionRow, "session_id">): Promise<string> {
  return await eventually("its program runs", () => {
    const passes = home.marked(session_id).map(({ pid }) => readEnvironmentVariable(pid, "REEVE_PASS"));
    return passes.findLast((found) => found !== null);
  });
}
