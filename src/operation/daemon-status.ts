import * as z from "zod/mini";
import { defineOperation } from "./contract.ts";
import { count, cursor, instant, text } from "./field.ts";
import { iso } from "./session-view.ts";

export const daemonStatus = defineOperation({
  name: "daemon_status",
  summary: "Show the daemon: its process, version and socket, how many sessions it looks after, and its warnings.",
  method: "GET",
  path: "/v1/daemon",
  effect: "read",
  callers: { operator: "any", session: "none" },
  example: {},
  names: [],
  input: () => z.object({}),
  output: () =>
    z.object({
      pid: count("The daemon's process."),
      version: text("The version of Reeve that it runs."),
      socket_path: text("The path of the unix socket on which it serves this API."),
      started_at: instant("When it was started."),
      sessions: count("How many sessions it looks after; ended ones are not counted."),
      cursor: cursor("The newest event. Pass it to `read_events` as `since` to read only what happens from now on."),
      orphans: z
        .array(
          z.object({
            session_id: text("The session that it belonged to."),
            incarnation: count("Which start of that session it belonged to."),
            what: text("What was found, such as a process with its id."),
          }),
        )
        .check(z.describe("Processes that a session left behind. Reeve ends them after a grace period.")),
      warnings: z.array(z.string()).check(z.describe("What you should know about this installation, a sentence each.")),
    }),

  async run(_input, { store, supervisor, daemon }) {
    return {
      pid: process.pid,
      version: daemon.version,
      socket_path: daemon.socketPath,
      started_at: iso(daemon.startedAt),
      sessions: store.registry.living().length,
      cursor: store.log.head(),
      orphans: supervisor
        .orphans()
        .map((orphan) => ({ session_id: orphan.sessionId, incarnation: orphan.incarnation, what: orphan.what })),
      warnings: [...daemon.warnings()],
    };
  },
});
