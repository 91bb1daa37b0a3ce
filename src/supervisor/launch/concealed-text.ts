/**
 * Stores a message without the secrets of its session. Each secret is replaced
 * by the name of its variable, between two characters that no message may
 * contain. When the message is delivered, the value is read from the session's
 * environment, so the agent gets exactly what was sent.
 */
import { type Admission, admitMessage, type Change } from "../../store/change.ts";
import type { Mailbox, Store } from "../../store/contract.ts";
import type { Message } from "../../session/message.ts";
import type { Session } from "../../session/session.ts";
import { type Environment, secretsOfLaunch } from "./environment.ts";
import type { Secret } from "./secret-values.ts";

const BEGIN = "\u0001";
const END = "\u0002";

export function conceal(text: string, secrets: readonly Secret[]): string {
  const longestFirst = secrets.toSorted((one, other) => other.value.length - one.value.length);
  return longestFirst.reduce(
    // Only what stands outside of names that were put in before.
    (rest, { ref, value }) =>
      rest
        .split(BEGIN)
        .map((part, index) => {
          const end = index === 0 ? 0 : part.indexOf(END) + 1;
          return part.slice(0, end) + part.slice(end).replaceAll(value, () => `${BEGIN}${ref}${END}`);
        })
        .join(BEGIN),
    text,
  );
}

export function holdsSecret(text: string, secrets: readonly Secret[]): boolean {
  return secrets.some(({ value }) => text.includes(value));
}

/** What cannot be resolved stays as it is. */
export function reveal(text: string, secrets: readonly Secret[]): string {
  return secrets.reduce((rest, { ref, value }) => rest.replaceAll(`${BEGIN}${ref}${END}`, () => value), text);
}

export function isConcealed(text: string): boolean {
  return text.includes(BEGIN);
}

/** The store as the supervisor sees it: texts whole, while on the disk they are not. */
export function concealMessages(
  store: Store,
  sources: {
    /** Of sessions that live. */
    readonly secrets: () => {
      known(sessionId: string): readonly Secret[] | null;
      /** The same after asking its process. */
      learn(sessionId: string): Promise<readonly Secret[] | null>;
    };
    /** For one that is about to be started. */
    readonly brought: (sessionId: string) => Environment | null;
  },
): Store {
  /** `planned`: not in the registry yet. */
  function secretsOf(sessionId: string, planned?: Session): readonly Secret[] | null {
    const known = planned === undefined ? sources.secrets().known(sessionId) : null;
    if (known !== null) return known;
    const session = planned ?? store.registry.get(sessionId);
    // Of a process that nobody can ask any more, its env file is still known.
    return session === undefined ? null : secretsOfLaunch(session.identity.launch, sources.brought(sessionId) ?? {});
  }

  const whole = (message: Message): Message => {
    if (!isConcealed(message.text)) return message;
    const secrets = secretsOf(message.sessionId);
    return secrets === null ? message : { ...message, text: reveal(message.text, secrets) };
  };
  const mailbox: Mailbox = {
    get(messageId) {
      const message = store.mailbox.get(messageId);
      return message === undefined ? undefined : whole(message);
    },
    count: (sessionId) => store.mailbox.count(sessionId),
    open: (sessionId) => store.mailbox.open(sessionId).map(whole),
    typed: (sessionId, most) => store.mailbox.typed(sessionId, most).map(whole),
  };
  return {
    ...store,
    mailbox,
    async commit(commit) {
      const { changes } = commit;
      if (changes === undefined) return store.commit(commit);
      const isPlanned = (id: string): boolean => plannedIn(changes, id) !== undefined;
      for (const change of changes)
        if (isAdmission(change) && !isPlanned(change.admit.sessionId))
          await sources.secrets().learn(change.admit.sessionId);
      return store.commit({ ...commit, changes: changes.map(concealed) });
    },
  };

  function concealed(change: Change, _index: number, changes: readonly Change[]): Change {
    if (!isAdmission(change)) return change;
    const { sessionId, text } = change.admit;
    const secrets = secretsOf(sessionId, plannedIn(changes, sessionId)) ?? [];
    return admitMessage({ ...change.admit, text: conceal(text, secrets) });
  }
}

function isAdmission(change: Change): change is Admission {
  return change.kind === "message" && "admit" in change;
}

function plannedIn(changes: readonly Change[], sessionId: string): Session | undefined {
  const planned = changes.find((other) => other.kind === "session" && other.session.id === sessionId);
  return planned?.kind === "session" ? planned.session : undefined;
}
