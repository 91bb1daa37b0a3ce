/**
 * The only writer of mail (fleet/mail.ts). Mail, its event and the key of the
 * request are one commit: a kill leaves all of it or nothing, and a repeated
 * request sends nothing twice. What happens to one mail afterwards is done one
 * after another.
 */
import {
  changedMail,
  type Mail,
  type MailChange,
  mailKind,
  mayRetract,
  type NewMail,
  OPERATOR_BOX,
  posted,
  sentEvent,
} from "../../fleet/mail.ts";
import {
  createUnreadIndex,
  MOST_UNREAD,
  MOST_UNREAD_FROM_ONE,
  type UnreadCount,
  type UnreadMail,
} from "../../fleet/unread-mail.ts";
import type { Clock } from "../../platform/clock.ts";
import { failpoint } from "../../platform/failpoint.ts";
import type { Log } from "../../platform/log.ts";
import { createKeyedQueue } from "../../platform/keyed-queue.ts";
import { ReeveError } from "../../platform/reeve-error.ts";
import { type Caller, signature } from "../../session/caller.ts";
import type { Records, Store } from "../../store/contract.ts";
import type { Wish } from "./ledger.ts";

export interface Post {
  readonly records: Records<Mail>;
  /** All of them or none. */
  send(mails: readonly NewMail[], wish: Wish): Promise<void>;
  /** The mail as it is then, also where it was so before. */
  change(mailId: string, change: MailChange, caller: Caller): Promise<Mail>;
  /** Of a session's id, or of `operator`. Nothing is read for it. */
  unread(recipient: string): UnreadCount;
  /** Oldest first. */
  unreadMails(recipient: string): readonly UnreadMail[];
  /** At the start of the daemon: what is unread. */
  load(): Promise<void>;
  idle(): Promise<void>;
}

/** Of one group at a time: a body may be long. */
const LOADED_AT_ONCE = 100;

export function createPost(parts: { readonly store: Store; readonly clock: Clock; readonly log: Log }): Post {
  const { store, clock, log } = parts;
  const records = store.records(mailKind);
  const index = createUnreadIndex();
  const queue = createKeyedQueue();
  // Before anybody else follows: whoever hears of a mail finds it counted.
  store.log.follow(index.follow);

  function requireSpace({ to, from }: NewMail): void {
    const fullness = index.fullness(to, from.caller);
    if (fullness !== null) throw full(fullness, nameOf(to));
  }

  function nameOf(recipient: string): string {
    return recipient === OPERATOR_BOX
      ? "The operator"
      : `Session ${store.registry.get(recipient)?.identity.name ?? recipient}`;
  }

  async function addGroup(group: string): Promise<void> {
    for (let before: number | undefined; ;) {
      const page = await records.page({ group, before, limit: LOADED_AT_ONCE });
      for (const { record } of page) index.add(record);
      before = page.at(-1)?.place;
      if (page.length < LOADED_AT_ONCE) return;
    }
  }

  return {
    records,

    async send(mails, { caller, idempotency }) {
      const promises: (() => void)[] = [];
      try {
        for (const mail of mails) {
          requireSpace(mail);
          promises.push(index.promise(mail.to, mail.from.caller));
        }
        failpoint("mail.before-commit");
        await store.commit({
          numbered: (firstSeq) => mails.map((mail, at) => mailKind.put(posted(mail, firstSeq + at))),
          events: mails.map((mail) => ({
            sessionId: sessionOf(mail.to),
            body: sentEvent(mail),
            ...signature(caller),
          })),
          ...(idempotency === undefined ? {} : { idempotency }),
        });
        failpoint("mail.after-commit");
      } finally {
        for (const keep of promises) keep();
      }
    },

    change: (mailId, change, caller) =>
      queue.run(mailId, async () => {
        const mail = await records.get(mailId);
        if (mail === undefined) throw unknownMail(mailId);
        if (change === "retract" && !mayRetract(mail)) throw alreadyRead(mail, nameOf(mail.to));
        const changed = changedMail(mail, change, clock.now());
        if (changed === null) return mail;
        failpoint(`mail-${change}.before-commit`);
        await store.commit({
          changes: [mailKind.put(changed.mail)],
          events: [{ sessionId: sessionOf(mail.to), body: changed.event, ...signature(caller) }],
        });
        failpoint(`mail-${change}.after-commit`);
        return changed.mail;
      }),

    unread: index.count,
    unreadMails: index.list,

    async load() {
      for (const group of await records.groups("unread/"))
        // Mail that cannot be read must not hide that of others.
        await addGroup(group).catch((error: unknown) => log("unread mail is not counted", { group, why: error }));
    },

    idle: () => queue.idle(),
  };
}

function sessionOf(recipient: string): string | null {
  return recipient === OPERATOR_BOX ? null : recipient;
}

export function unknownMail(mailId: string): ReeveError {
  return new ReeveError({
    code: "unknown-mail",
    kind: "not-found",
    message: `There is no mail ${mailId}; see reeve mail check.`,
  });
}

function alreadyRead(mail: Mail, recipient: string): ReeveError {
  return new ReeveError({
    code: "mail-read",
    kind: "conflict",
    message: `${recipient} has ${mail.state} ${mail.id} already, so it cannot be retracted; send another mail that corrects it.`,
    details: { state: mail.state },
  });
}

function full(why: "recipient-full" | "sender-full", recipient: string): ReeveError {
  return new ReeveError({
    code: why,
    kind: "conflict",
    message:
      why === "recipient-full"
        ? `${recipient} has ${MOST_UNREAD} unread mails and takes no more; wait until some of them are read, or tell the operator.`
        : `${recipient} has ${MOST_UNREAD_FROM_ONE} unread mails of yours and takes no more of them; wait until some are read, or retract some.`,
  });
}
