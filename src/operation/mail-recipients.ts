/** Finds the recipients that a mail is addressed to, and refuses those whom the policy does not allow. */
import { type Addressed, OPERATOR_BOX } from "../fleet/mail.ts";
import { mayMailSession, POLICY_WORDS } from "../fleet/mail-policy.ts";
import { ReeveError } from "../platform/reeve-error.ts";
import type { Session } from "../session/session.ts";
import { isEnded } from "../session/session.ts";
import type { OperationContext } from "./contract.ts";
import { forebears } from "./scope.ts";
import { resolveAmong } from "./session-reference.ts";

export interface Recipients {
  /** Ids of sessions, or `operator`; at least one. */
  readonly recipients: readonly string[];
  readonly addressed: Addressed;
}

const ROLE = "role:";

export function recipientsOf(to: string, context: OperationContext): Recipients {
  if (to === OPERATOR_BOX) return { recipients: [OPERATOR_BOX], addressed: "operator" };
  if (to.startsWith(ROLE)) return ofRole(to.slice(ROLE.length), context);
  requireSessions(to, context);
  const session = resolveAmong(context.store.registry, to, (one) => isAllowed(one, context));
  if (session === null) throw notAllowed(to, context);
  if (isEnded(session)) throw ended(session);
  return { recipients: [session.id], addressed: "session" };
}

function ofRole(role: string, context: OperationContext): Recipients {
  const addressed = `${ROLE}${role}` as const;
  requireSessions(addressed, context);
  const { caller, store } = context;
  const isSelf = ({ id }: Session): boolean => caller.kind === "session" && caller.id === id;
  const living = store.registry.living().filter((session) => session.identity.role === role);
  const others = living.filter((session) => !isSelf(session));
  const recipients = others.filter((session) => isAllowed(session, context)).map(({ id }) => id);
  if (recipients.length > 0) return { recipients, addressed };
  if (others.length > 0) throw notAllowed(addressed, context);
  throw new ReeveError({
    code: "no-recipient",
    kind: "conflict",
    message: `There is no ${living.length > 0 ? "other " : ""}session with the role ${role} that has not ended, so nobody would get this; reeve list shows who is there.`,
  });
}

/** Before anything is looked up: a session that may only write to the operator learns nothing of others. */
function requireSessions(to: string, context: OperationContext): void {
  if (context.caller.kind === "session" && context.supervisor.settings.mail === "operator")
    throw notAllowed(to, context);
}

function isAllowed(recipient: Session, { caller, store, supervisor }: OperationContext): boolean {
  const sender = caller.kind === "session" ? store.registry.get(caller.id) : undefined;
  if (sender === undefined) return true;
  const familyOf = (session: Session): string => (forebears(store.registry, session).at(-1) ?? session).id;
  return mayMailSession(supervisor.settings.mail, { sender: familyOf(sender), recipient: familyOf(recipient) });
}

function notAllowed(to: string, { caller, store, supervisor }: OperationContext): ReeveError {
  const id = caller.kind === "session" ? caller.id : "";
  const name = store.registry.get(id)?.identity.name ?? id;
  return new ReeveError({
    code: "not-allowed",
    kind: "forbidden",
    message: `Session ${name} may not send mail to ${to}: ${POLICY_WORDS[supervisor.settings.mail]}.`,
  });
}

function ended({ identity }: Session): ReeveError {
  return new ReeveError({
    code: "session-ended",
    kind: "conflict",
    message: `Session ${identity.name} has ended and would not read it; restart it first, or send the mail to another session or the operator.`,
  });
}
