/** Approval rules as the API shows them. */
import * as z from "zod/mini";
import { type ApprovalRule, type RuleMatch } from "../fleet/approval-rule.ts";
import { text, whenUsed } from "./field.ts";

const words = (what: string) =>
  z.nullable(z.array(z.string())).check(z.describe(`${what}; null where the rule does not say.`));
const match = (what: string) =>
  z
    .nullable(z.union([z.literal(true), z.array(z.string())]))
    .check(z.describe(`${what}; true: everything; null where the rule does not say.`));

export const ruleSchema = whenUsed(() =>
  z
    .object({
      name: text("Its name, which the log shows with every decision."),
      agents: words("The agents that it is about"),
      roles: words("The roles"),
      directories: words("Where it must be done, or the changed files must lie"),
      tools: words("command, edit, tool, other, or an agent's own name of a tool"),
      allow: match("Patterns: what fits one of them as a whole is approved"),
      deny: match("Patterns: what contains one of them is denied"),
    })
    .register(z.globalRegistry, { id: "ApprovalRule", description: "A rule by which Reeve answers approvals." }),
);

export function viewRule({ allow, deny, ...rule }: ApprovalRule): z.infer<typeof ruleSchema> {
  const copy = (list: readonly string[] | null): string[] | null => (list === null ? null : [...list]);
  return {
    name: rule.name,
    agents: copy(rule.agents),
    roles: copy(rule.roles),
    directories: copy(rule.directories),
    tools: copy(rule.tools),
    allow: viewMatch(allow),
    deny: viewMatch(deny),
  };
}

function viewMatch(match: RuleMatch | null): true | string[] | null {
  return match === null || match === true ? match : match.map(({ source }) => source);
}
