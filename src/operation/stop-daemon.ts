import * as z from "zod/mini";
import { defineOperation } from "./contract.ts";
import { count } from "./field.ts";

export const stopDaemon = defineOperation({
  name: "stop_daemon",
  summary: "Stop the daemon. Sessions run on, and are found again when it is next started.",
  method: "POST",
  path: "/v1/daemon/stop",
  effect: "change",
  callers: { operator: "any", session: "none" },
  example: {},
  names: [],
  input: z.object({}),
  output: z.object({ pid: count("The process that stops.") }),

  async run(_input, { daemon }) {
    daemon.stop();
    return { pid: process.pid };
  },
});
