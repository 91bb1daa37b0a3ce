import * as z from "zod/mini";
import { defineOperation } from "./contract.ts";
import { resolveWork, workReference } from "./work-reference.ts";
import { viewWholeWork, wholeWorkSchema } from "./work-view.ts";

export const getWork = defineOperation({
  name: "get_work",
  summary: "One item of work as it is now, with its texts.",
  method: "GET",
  path: "/v1/work/{work}",
  effect: "read",
  callers: { operator: "any", session: "any" },
  example: { work: "work-k3v9xw2apq" },
  names: [],
  about: ["work"],
  input: () => z.object({ work: workReference }),
  output: () => wholeWorkSchema,

  async run(input, context) {
    return await viewWholeWork(context, await resolveWork(context.supervisor, input.work));
  },
});
