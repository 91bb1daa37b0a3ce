/** That a session must stay, and which of its time-outs have fired, as every surface shows it. */
import * as z from "zod/mini";
import { stripTerminal } from "../platform/terminal-text.ts";
import type { Session } from "../session/session.ts";
import { untilOf } from "../session/stay.ts";
import { TIME_OUT_NAMES, type TimeOutName } from "../session/time-out.ts";
import { instant, text, whenUsed } from "./field.ts";

export const heldSchema = whenUsed(() =>
  z
    .nullable(
      z.object({
        reason: text("Why it must stay."),
        until: instant("When the hold ends by itself."),
        by: text("Who holds it: `operator`, `session:<id>` or `system`."),
      }),
    )
    .check(
      z.describe(
        "Somebody holds it, because it must stay: see `hold_session`. Its idle and age time-outs do not fire, and it is not pruned. null: nobody does.",
      ),
    ),
);

export const timedOutSchema = z
  .array(z.enum(TIME_OUT_NAMES))
  .check(z.describe("The time-outs that have fired, of what is still so; `explain_session` tells more."));

export function viewHeld({ wish: { stay } }: Session): z.infer<typeof heldSchema> {
  if (stay === null) return null;
  const until = new Date(untilOf(stay)).toISOString();
  return { reason: stripTerminal(stay.reason), until, by: stripTerminal(stay.by) };
}

export function viewTimedOut({ timeouts }: Session): TimeOutName[] {
  const fired = timeouts.countdowns.filter((countdown) => countdown.fired !== null);
  return [...new Set(fired.map(({ which }) => which))];
}
