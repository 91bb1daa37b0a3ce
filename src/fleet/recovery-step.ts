/** Decides from the facts of a recovery what to do next, in order; the first step is always safe to take. */
import type { CheckoutFacts, RecoveryFacts } from "./recovery.ts";

export function nextSteps(facts: RecoveryFacts): readonly string[] {
  const { session, mail, turn, messages } = facts;
  if (session.isEnded) return [`It has ended. To go on with it: reeve restart ${session.name}`];
  const isCut = turn.known && (turn.value?.how === "cut-short" || turn.value?.how === "lost");
  const call = turn.known ? (turn.value?.call ?? null) : null;
  const steps = [
    ...(session.isRunning ? [] : [`It is ${session.state}. To go on with it: reeve restart ${session.name}`]),
    ...(mail.known && mail.value.length === 0 ? [] : ["Read the unread mail: check_mail, then read_mail."]),
    ...checkoutSteps(facts),
    ...(call === null ? [] : [`Check what ${call.tool} did before you call it again.`]),
    ...(isCut && call === null ? ["Check what the last turn changed before you repeat anything of it."] : []),
    ...(messages.length === 0 ? [] : ["Do not repeat what the queued messages say; they will be given."]),
  ];
  const rest =
    facts.prompt.known && facts.prompt.value === null ? "Wait for a prompt." : "Go on with the newest prompt.";
  return [...steps, ...(session.isRunning ? [rest] : [])];
}

function checkoutSteps({ checkout }: RecoveryFacts): readonly string[] {
  if (!checkout.known) return ["Run git status before you change a file: Reeve could not look."];
  const found = checkout.value;
  if (found === null) return [];
  return [
    ...(found.locks.length === 0
      ? []
      : ["A lock of git's is there: find out which process has it, and delete it only if none does."]),
    ...(found.underWay.length === 0 ? branchStep(found) : [underWayStep(found)]),
    ...(found.moves.known && found.moves.value.length > 0
      ? ["HEAD moved while it was away: look at git log before you build on it."]
      : []),
  ];
}

function underWayStep({ underWay, conflicted }: CheckoutFacts): string {
  const what = underWay.join(" and ");
  const how = conflicted.length > 0 ? "resolve the conflicts and continue it, or abort it" : "continue it or abort it";
  return `Finish ${what} before anything else: git status, then ${how}. Commit nothing until then.`;
}

function branchStep({ declared, actual }: CheckoutFacts): readonly string[] {
  return declared === null || declared === actual
    ? []
    : [`Commit nothing: the checkout is on ${actual}, not on ${declared}. Ask why before you switch.`];
}
