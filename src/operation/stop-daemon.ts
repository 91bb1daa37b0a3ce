import * as z from "zod/mini";
import { ReeveError } from "../platform/reeve-error.ts";
import { defineOperation } from "./contract.ts";
import { count, yesOrNo } from "./field.ts";

export const stopDaemon = defineOperation({
  name: "stop_daemon",
  summary:
    "Stop the daemon. Sessions run on, and are found again when it is next started. With `with_runtimes` the tmux server is stopped too; that is refused until every session has ended.",
  method: "POST",
  path: "/v1/daemon/stop",
  effect: "change",
  callers: { operator: "any", session: "none" },
  example: {},
  names: [],
  input: z.object({
    with_runtimes: z.optional(
      yesOrNo("Also stop the tmux server of the sessions; refused until every session has ended."),
    ),
  }),
  output: z.object({ pid: count("The process that stops.") }),

  async run({ with_runtimes: withRuntimes = false }, { store, daemon }) {
    if (withRuntimes) {
      const living = store.registry.living();
      if (living.length > 0) throw sessionsLeft(living.map(({ identity }) => identity.name));
      await daemon.retireRuntimes();
    }
    daemon.stop();
    return { pid: process.pid };
  },
});

function sessionsLeft(names: readonly string[]): ReeveError {
  return new ReeveError({
    code: "sessions-left",
    kind: "conflict",
    message: `Nothing was stopped: ${names.length} sessions have not ended (${names.slice(0, 5).join(", ")}); end them first: reeve end --all`,
  });
}
