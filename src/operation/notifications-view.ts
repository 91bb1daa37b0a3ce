/** What a start arms: who is woken for the session, for what, and how that arrives. */
import * as z from "zod/mini";
import { armedFor, notificationsOf } from "../fleet/wake-arming.ts";
import { ReeveError } from "../platform/reeve-error.ts";
import type { Session } from "../session/session.ts";
import { WAKE_REASONS, type WakeReason } from "../session/wake.ts";
import type { OperationContext } from "./contract.ts";
import { text, textOrNull, whenUsed } from "./field.ts";

export const reasonsSchema = z.array(z.enum(WAKE_REASONS));

export const notificationsSchema = whenUsed(() =>
  z
    .object({
      armed: reasonsSchema.check(z.describe("What wakes that session; empty: nothing does.")),
      to: textOrNull("The session that is woken; null where no session started this one."),
      by: z
        .enum(["turn", "typed", "none"])
        .check(
          z.describe(
            "How it arrives. turn: as a turn, by the agent's own protocol. typed: as a line that is typed into it. none: not at all.",
          ),
        ),
      why: text("The same in a sentence, or why nothing arrives."),
    })
    .register(z.globalRegistry, { id: "Notifications", description: "Who is woken for a session, and how." }),
);

/** For the record of what is started; refuses a wish that nobody could keep. */
export function armed(
  { store, supervisor, caller }: OperationContext,
  parentId: string | null,
  asked: readonly WakeReason[] | undefined,
): readonly WakeReason[] {
  const parent = parentId === null ? undefined : store.registry.get(parentId);
  if (parent === undefined && asked !== undefined && asked.length > 0)
    throw new ReeveError({
      code: "nobody-to-notify",
      kind: "usage",
      message: "Only a session can be woken, and no session starts this one; leave --notify out and use wait.",
    });
  return armedFor({ asked, parent, caller, isEnabled: supervisor.settings.wakes });
}

export function viewNotifications(
  { store, supervisor }: Pick<OperationContext, "store" | "supervisor">,
  session: Session,
): z.infer<typeof notificationsSchema> {
  const { parentId } = session.identity;
  const parent = parentId === null ? undefined : store.registry.get(parentId);
  const { armed: reasons, ...rest } = notificationsOf(session, parent, supervisor.settings.wakes);
  return { armed: [...reasons], ...rest };
}
