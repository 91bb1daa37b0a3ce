import * as z from "zod/mini";
import { ReeveError } from "../platform/reeve-error.ts";
import { defineOperation } from "./contract.ts";
import { count, yesOrNo } from "./field.ts";

export const stopDaemon = defineOperation({
  name: "stop_daemon",
  summary:
    "Stop the daemon. Sessions run on, and are found again when it is next started. Where every session has ended, the tmux server is stopped too; with `with_runtimes` it is refused until then.",
  method: "POST",
  path: "/v1/daemon/stop",
  effect: "change",
  callers: { operator: "any", session: "none" },
  example: {},
  names: [],
  input: () =>
    z.object({
      with_runtimes: z.optional(
        yesOrNo("Also stop the tmux server of the sessions; refused until every session has ended."),
      ),
    }),
  output: () =>
    z.object({
      pid: count("The process that stops."),
      sessions: count("How many sessions have not ended; their processes run on."),
    }),

  async run({ with_runtimes: withRuntimes = false }, { store, daemon }) {
    const living = store.registry.living();
    if (withRuntimes && living.length > 0) throw sessionsLeft(living.map(({ identity }) => identity.name));
    // An empty tmux server is of no use to anybody. What cannot be stopped keeps nobody from stopping the daemon.
    if (withRuntimes) await daemon.retireRuntimes();
    else if (living.length === 0) await daemon.retireRuntimes().catch(() => undefined);
    daemon.stop();
    return { pid: process.pid, sessions: living.length };
  },
});

function sessionsLeft(names: readonly string[]): ReeveError {
  return new ReeveError({
    code: "sessions-left",
    kind: "conflict",
    message: `Nothing was stopped: ${names.length} sessions have not ended (${names.slice(0, 5).join(", ")}); end them first: reeve end --all`,
  });
}
