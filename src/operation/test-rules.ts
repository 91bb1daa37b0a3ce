/** Tells what approval rules would have decided on past questions. Nothing is answered. */
import * as z from "zod/mini";
import { type ApprovalRule, rulingOn } from "../fleet/approval-rule.ts";
import { messageOf, ReeveError } from "../platform/reeve-error.ts";
import { stripTerminal } from "../platform/terminal-text.ts";
import type { Decision } from "../session/approval.ts";
import type { LoggedEvent } from "../session/event.ts";
import type { Store } from "../store/contract.ts";
import { readRules } from "../supervisor/launch/approval-rules.ts";
import { defineOperation } from "./contract.ts";
import { count, instant, text, textOrNull, whenUsed } from "./field.ts";
import { iso } from "./session-view.ts";

const decision = z.enum(["approved", "denied"]);

const testedSchema = whenUsed(() =>
  z
    .object({
      seq: count("The number of the event by which it was asked."),
      asked_at: instant("When it was asked."),
      session_id: text("The session that asked."),
      session_name: text("The name of that session."),
      agent: text("The agent that runs in it."),
      title: text("What was asked, in one line."),
      decided: z.nullable(decision).check(z.describe("How it was answered; null where nobody answered or saw it.")),
      decided_by: textOrNull("Who answered; null where nobody did."),
      would: z.nullable(decision).check(z.describe("What the rules decide; null: they leave it to you.")),
      rule: textOrNull("The rule that decides; null where none does."),
    })
    .register(z.globalRegistry, { id: "TestedApproval", description: "A past question, and what rules make of it." }),
);

type Tested = z.infer<typeof testedSchema>;

export const testRules = defineOperation({
  name: "test_rules",
  summary: "Try approval rules on past questions: what they would have decided, and what was decided. Nothing changes.",
  method: "POST",
  path: "/v1/rules/test",
  effect: "read",
  callers: { operator: "any", session: "none" },
  example: { limit: 50 },
  names: [],
  input: () =>
    z.object({
      config: z
        .optional(z.string().check(z.maxLength(1_048_576)))
        .check(
          z.describe("The text of a config.toml, whose [[approval]] tables are tried; by default those in force are."),
        ),
      limit: z
        ._default(z.int().check(z.minimum(1), z.maximum(1_000)), 200)
        .check(z.meta({ description: "At most so many of the newest questions.", "x-unit": "questions" })),
    }),
  output: () =>
    z.object({
      questions: z.array(testedSchema).check(z.describe("Oldest first.")),
      would_approve: count("How many the rules approve."),
      would_deny: count("How many the rules deny."),
      differs: count("How many they decide otherwise than somebody did."),
    }),

  async run(input, { store, supervisor }) {
    const rules = input.config === undefined ? supervisor.approvalRules : await given(input.config);
    const questions = await pastQuestions(store, rules, input.limit);
    return {
      questions: [...questions],
      would_approve: questions.filter(({ would }) => would === "approved").length,
      would_deny: questions.filter(({ would }) => would === "denied").length,
      differs: questions.filter(({ would, decided }) => would !== null && decided !== null && would !== decided).length,
    };
  },
});

async function given(config: string): Promise<readonly ApprovalRule[]> {
  try {
    return await readRules(config);
  } catch (error) {
    throw new ReeveError({
      code: "rules-invalid",
      kind: "usage",
      message: `These rules cannot be used: ${messageOf(error).split("\n", 1)[0]}; fix that and try again.`,
    });
  }
}

const PAGE = 1_000;

async function pastQuestions(
  { log, registry }: Store,
  rules: readonly ApprovalRule[],
  limit: number,
): Promise<readonly Tested[]> {
  const asked = new Map<string, Tested>();
  const types = ["approval-requested", "approval-settled"] as const;
  for (let after = 0; ;) {
    const events = await log.read({ after, limit: PAGE, types });
    for (const event of events) take(asked, event, registry, rules, limit);
    const last = events.at(-1);
    if (events.length < PAGE || last === undefined) return [...asked.values()];
    after = last.seq;
  }
}

function take(
  asked: Map<string, Tested>,
  { seq, at, sessionId, body }: LoggedEvent,
  registry: Store["registry"],
  rules: readonly ApprovalRule[],
  limit: number,
): void {
  const session = sessionId === null ? undefined : registry.get(sessionId);
  if (session === undefined) return;
  if (body.type === "approval-settled") {
    const key = `${session.id} ${body.approvalId}`;
    const known = asked.get(key);
    const outcome: { decided: Decision | null; decided_by: string } = { decided: body.decision, decided_by: body.by };
    if (known !== undefined) asked.set(key, { ...known, ...outcome });
    return;
  }
  if (body.type !== "approval-requested") return;
  const { approval, concerns = null } = body;
  const { agent, role, launch, name } = session.identity;
  const ruling = rulingOn(rules, { agent, role, cwd: launch.cwd, approval, choices: null, concerns });
  if (asked.size >= limit) asked.delete(asked.keys().next().value ?? "");
  asked.set(`${session.id} ${approval.id}`, {
    seq,
    asked_at: iso(at),
    session_id: session.id,
    session_name: name,
    agent,
    title: stripTerminal(approval.title),
    decided: null,
    decided_by: null,
    would: ruling?.decision ?? null,
    rule: ruling?.rule ?? null,
  });
}
