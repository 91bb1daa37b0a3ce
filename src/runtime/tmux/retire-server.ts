/** Ends our tmux server on request: only if no program runs in it any more. Proves that its process is gone. */
import type { Clock } from "../../platform/clock.ts";
import { isAlive } from "../../platform/process-table.ts";
import { ReeveError } from "../../platform/reeve-error.ts";
import type { ControlConnection } from "../driver/control-connection.ts";
import { quote } from "../driver/quote.ts";
import type { ServerIdentity } from "./remembered-server.ts";
import { ANCHOR } from "../driver/server-config.ts";

/** tmux ends within milliseconds; five seconds are a server that hangs. */
const LONGEST_END_MS = 5_000;
const LOOK_MS = 10;

export async function retireServer(connection: ControlConnection, server: ServerIdentity, clock: Clock): Promise<void> {
  const format = quote("#{pane_dead} #{session_name}");
  const { error, replies } = await connection.request([{ text: `list-panes -a -F ${format}` }]);
  if (error !== null) throw refusal("tmux-not-asked", `The tmux server did not say what runs in it: ${error}.`);
  const living = (replies[0]?.lines ?? []).filter((line) => line.startsWith("0 ") && line !== `0 ${ANCHOR}`);
  if (living.length > 0) {
    const what = living.length === 1 ? "1 program still runs" : `${living.length} programs still run`;
    throw refusal("tmux-in-use", `The tmux server was left alone: ${what} in it. End what runs there and try again.`);
  }
  // The connection is lost over it.
  await connection.request([{ text: "kill-server" }]).catch(() => undefined);
  const endsAt = clock.monotonic() + LONGEST_END_MS;
  while (isAlive(server.pid, server.startTicks)) {
    if (clock.monotonic() > endsAt)
      throw refusal("tmux-stuck", `The tmux server (process ${server.pid}) was told to end but is still there.`);
    await clock.sleep(LOOK_MS);
  }
}

function refusal(code: string, message: string): ReeveError {
  return new ReeveError({ code, kind: "conflict", message });
}
