/** Interrupts the turn under way, and sends nothing after it. */
import * as z from "zod/mini";
import { ReeveError } from "../platform/reeve-error.ts";
import type { OperationContext } from "./contract.ts";
import { defineOperation } from "./contract.ts";
import { carryOut, lifecycleOutput } from "./lifecycle.ts";
import { resolveSession, sessionReference } from "./session-reference.ts";

export const interruptSession = defineOperation({
  name: "interrupt_session",
  summary: "Interrupt the turn under way in a session, by its agent's own way, and send nothing after it.",
  method: "POST",
  path: "/v1/sessions/{session}/interrupt",
  effect: "change",
  callers: { operator: "any", session: "descendants" },
  example: { session: "fix" },
  names: ["session"],
  input: () => z.object({ session: sessionReference }),
  output: () => lifecycleOutput,

  async run(input, context) {
    const { store } = context;
    const before = resolveSession(store.registry, input.session);
    requireInterruptible(context, before.identity);
    const outcome = await carryOut(context, {
      operation: "interrupt_session",
      session: before.id,
      command: { type: "interrupt" },
      isFact: ({ wish: { interrupt } }) => interrupt === null || interrupt.failed,
      timeoutMs: 10_000,
    });
    if (!before.conversation.turnOpen) return { ...outcome, note: "No turn was under way." };
    const hasFailed = store.registry.get(before.id)?.wish.interrupt?.failed === true;
    return hasFailed ? { ...outcome, done: false, note: WITHOUT_SUCCESS } : outcome;
  },
});

const WITHOUT_SUCCESS = "Reeve tried to interrupt its turn, but the turn goes on; look at its screen.";

function requireInterruptible({ supervisor }: OperationContext, identity: { readonly agent: string }): void {
  const agent = supervisor.agent(identity.agent);
  if (agent.interrupt !== null) return;
  throw new ReeveError({
    code: "interrupt-unsupported",
    kind: "usage",
    message: `The agent ${agent.name} cannot be interrupted; reeve end or reeve restart stops its process.`,
  });
}
