import * as z from "zod/mini";
import { isEnded } from "../session/session.ts";
import { defineOperation } from "./contract.ts";
import { iso } from "./session-view.ts";

export const daemonStatus = defineOperation({
  name: "daemon_status",
  summary: "What the daemon is, what it looks after, and what it wants to be told about.",
  method: "GET",
  path: "/v1/daemon",
  effect: "read",
  callers: { operator: "any", session: "none" },
  names: [],
  input: z.object({}),
  output: z.object({
    pid: z.number(),
    version: z.string(),
    started_at: z.string(),
    /** Where it listens. */
    socket_path: z.string(),
    sessions: z.number(),
    cursor: z.number(),
    orphans: z.array(z.object({ session_id: z.string(), incarnation: z.number(), what: z.string() })),
    warnings: z.array(z.string()),
  }),

  async run(_input, { store, supervisor, daemon }) {
    return {
      pid: process.pid,
      version: daemon.version,
      started_at: iso(daemon.startedAt),
      socket_path: daemon.socketPath,
      sessions: store.registry.all().filter((session) => !isEnded(session)).length,
      cursor: store.log.head(),
      orphans: supervisor
        .orphans()
        .map((orphan) => ({ session_id: orphan.sessionId, incarnation: orphan.incarnation, what: orphan.what })),
      warnings: [...daemon.warnings()],
    };
  },
});
