/** The approval rules that are in force, in the order in which they are tried. */
import * as z from "zod/mini";
import { defineOperation } from "./contract.ts";
import { ruleSchema, viewRule } from "./rule-view.ts";

export const listRules = defineOperation({
  name: "list_rules",
  summary: "The approval rules that are in force, in the order in which they are tried. The first that fits decides.",
  method: "GET",
  path: "/v1/rules",
  effect: "read",
  callers: { operator: "any", session: "none" },
  example: {},
  names: [],
  input: () => z.object({}),
  output: () =>
    z.object({ rules: z.array(ruleSchema).check(z.describe("In order; empty: every question waits for you.")) }),

  async run(_input, { supervisor }) {
    return { rules: supervisor.approvalRules.map(viewRule) };
  },
});
