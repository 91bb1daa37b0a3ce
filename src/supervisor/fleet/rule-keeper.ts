/**
 * Answers the questions that were open when the daemon started, where an
 * approval rule decides them by now. A question that comes later is answered in
 * the commit that records it (session/apply-rule.ts). Either way the answer is
 * a command like any other: recorded with the rule that made it, given once and
 * verified. If it cannot be given, the question waits for a person.
 */
import { type ApprovalRule, rulingFor } from "../../fleet/approval-rule.ts";
import type { Log } from "../../platform/log.ts";
import { mayRule } from "../../session/apply-rule.ts";
import { SYSTEM } from "../../session/caller.ts";
import type { Session } from "../../session/session.ts";
import type { Ledger } from "../ledger/ledger.ts";

export function answerByRules(
  session: Session,
  { ledger, log, rules }: { readonly ledger: Ledger; readonly log: Log; readonly rules: readonly ApprovalRule[] },
): void {
  if (!mayRule(session)) return;
  for (const approval of session.conversation.approvals) {
    const ruling = approval.answer === null ? rulingFor(rules, session, approval) : null;
    if (ruling === null) continue;
    ledger
      .apply(session.id, { type: "answer", approvalId: approval.id, ...ruling }, { caller: SYSTEM })
      .catch((error: unknown) => log("a rule's answer was not taken", { session: session.id, why: error }));
  }
}
