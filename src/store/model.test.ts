/** Random changes against a plain model of the store, with reopenings in between. */
import { amend } from "../session/amend.ts";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import type { LoggedEvent } from "../session/event.ts";
import type { Message, MessageState } from "../session/message.ts";
import type { Session } from "../session/session.ts";
import { isEnded } from "../session/session.ts";
import { admitMessage, type Change, putSession, settleMessage } from "./change.ts";
import type { Commit } from "./contract.ts";
import type { OpenStore } from "./open-store.ts";
import { countKind, makeHome, makeMessage, makeSession, STARTED, type TestHome, momentAt } from "./store-fixture.ts";

const IDS = ["a", "b", "c"];
const id = fc.constantFrom(...IDS);
const messageId = fc.constantFrom("m1", "m2", "m3", "m4");
const change = fc.record(
  {
    session: fc.record({
      id,
      name: fc.constantFrom("x", "y"),
      step: fc.constantFrom(1, 1, 1, 1, 0, 2),
      ended: fc.boolean(),
      prompt: fc.string({ unit: "binary" }),
    }),
    events: fc.array(fc.record({ sessionId: fc.option(id), version: fc.string({ unit: "binary" }) }), { maxLength: 3 }),
    admit: fc.record({ id: messageId, sessionId: id, text: fc.string({ unit: "binary" }) }),
    settle: fc.record({
      messageId,
      state: fc.constantFrom<MessageState>("admitted", "leased", "delivered", "refused", "unknown"),
    }),
    record: fc.record({ id, step: fc.constantFrom(1, 1, 1, 1, 0, 2), isRemoved: fc.boolean() }),
    key: fc.constantFrom("k1", "k2", "k3"),
  },
  { requiredKeys: [] },
);
type Wanted = typeof change extends fc.Arbitrary<infer Value> ? Value : never;
const step = fc.oneof(
  { weight: 5, arbitrary: fc.array(change, { minLength: 1, maxLength: 6 }) },
  { weight: 1, arbitrary: fc.constant("reopen" as const) },
);

class Model {
  sessions = new Map<string, Session>();
  messages = new Map<string, Message>();
  events: Omit<LoggedEvent, "at">[] = [];
  records = new Map<string, number>();
  keys = new Set<string>();

  /** The commit for a change, and whether it must be accepted; applies it if so. */
  take(home: TestHome, wanted: Wanted): { readonly commit: Commit; readonly accepted: boolean } {
    const next = Object.assign(new Model(), {
      sessions: new Map(this.sessions),
      messages: new Map(this.messages),
      events: [...this.events],
      records: new Map(this.records),
      keys: new Set(this.keys),
    });
    const changes: Change[] = [];
    const commit: { -readonly [Key in keyof Commit]: Commit[Key] } = { changes };
    let accepted = true;
    if (wanted.key !== undefined) {
      commit.idempotency = { key: wanted.key, operation: "o", fingerprint: "f", subject: "s", at: Date.now() };
      accepted &&= !this.keys.has(wanted.key);
      next.keys.add(wanted.key);
    }
    if (wanted.session) {
      const { name, prompt, ended } = wanted.session;
      const revision = (this.sessions.get(wanted.session.id)?.revision ?? 0) + wanted.session.step;
      const life = ended ? ({ state: "stopped", wish: { desired: "stopped" } } as const) : {};
      const plain = makeSession(home, wanted.session.id, { revision, identity: { name }, ...life });
      const session = amend(plain, { identity: { launch: { ...plain.identity.launch, prompt } } });
      changes.push(putSession(session));
      const others = [...this.sessions.values()].filter((other) => other.id !== plain.id);
      accepted &&= wanted.session.step === 1;
      accepted &&= ended || others.every((other) => other.identity.name !== name || isEnded(other));
      next.sessions.set(plain.id, session);
    }
    if (wanted.admit) {
      const { id: newId, sessionId, text } = wanted.admit;
      const message = makeMessage(sessionId, newId, { text });
      changes.push(admitMessage(message));
      accepted &&= next.sessions.has(sessionId) && !this.messages.has(newId);
      const position =
        Math.max(
          0,
          ...[...this.messages.values()].filter((one) => one.sessionId === sessionId).map((one) => one.position),
        ) + 1;
      next.messages.set(newId, { ...message, position });
    }
    if (wanted.settle) {
      const { messageId: settled, state } = wanted.settle;
      changes.push(settleMessage({ messageId: settled, state, detail: "d", moment: momentAt(7) }));
      const before = next.messages.get(settled);
      const open = state === "admitted" || state === "leased";
      accepted &&=
        before !== undefined &&
        (isOpen(before) || (before.state === "unknown" && (state === "delivered" || state === "refused")));
      if (before) next.messages.set(settled, { ...before, state, detail: "d", settled: open ? null : momentAt(7) });
    }
    if (wanted.record) {
      const { id: recordId, step: taken, isRemoved } = wanted.record;
      const stored = this.records.get(recordId) ?? 0;
      // What is removed is named by the revision that is stored.
      const revision = stored + taken - (isRemoved ? 1 : 0);
      const record = { id: recordId, revision };
      changes.push(isRemoved ? countKind.remove(record) : countKind.put(record));
      accepted &&= taken === 1 && (!isRemoved || stored > 0);
      if (isRemoved) next.records.delete(recordId);
      else next.records.set(recordId, revision);
    }
    if (wanted.events) {
      commit.events = wanted.events.map(({ sessionId, version }) => ({ sessionId, body: { ...STARTED, version } }));
      for (const event of commit.events) next.events.push({ seq: next.events.length + 1, caller: null, ...event });
    }
    if (accepted) Object.assign(this, next);
    return { commit, accepted };
  }

  view(): unknown {
    return {
      sessions: [...this.sessions.values()],
      open: IDS.map((one) => this.#inOrder(one)),
      messages: [...this.messages.values()],
      events: this.events,
      head: this.events.length,
      records: [...this.records].map(([recordId, revision]) => ({ id: recordId, revision })),
      keys: [...this.keys].toSorted(),
    };
  }

  async viewOf(store: OpenStore): Promise<unknown> {
    const events = await store.log.read({ after: 0, limit: 1_000 });
    return {
      sessions: store.registry.all(),
      open: IDS.map((one) => store.mailbox.open(one)),
      messages: [...this.messages.keys()].map((one) => store.mailbox.get(one)),
      events: events.map(({ at: _at, ...event }) => event),
      head: store.log.head(),
      records: await store.records(countKind).list(),
      keys: ["k1", "k2", "k3"].filter((key) => store.idempotency(key)),
    };
  }

  #inOrder(sessionId: string): readonly Message[] {
    return [...this.messages.values()]
      .filter((one) => one.sessionId === sessionId && isOpen(one))
      .toSorted((one, other) => one.position - other.position);
  }
}

function isOpen({ state }: Message): boolean {
  return state === "admitted" || state === "leased";
}

test("the store does what the model does, across reopenings", { timeout: 60_000 }, async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 12 }), async (steps) => {
      const home = makeHome();
      try {
        const model = new Model();
        let store = await home.open();
        for (const next of [...steps, "reopen" as const]) {
          if (next === "reopen") {
            await store.close();
            store = await home.open();
            expect(store.repairs).toEqual([]);
          } else {
            const taken = next.map((wanted) => model.take(home, wanted));
            const outcomes = await Promise.allSettled(taken.map(({ commit }) => store.commit(commit)));
            expect(outcomes.map(({ status }) => status === "fulfilled")).toEqual(taken.map(({ accepted }) => accepted));
          }
          expect(await model.viewOf(store)).toEqual(model.view());
        }
      } finally {
        await home.remove();
      }
    }),
    { numRuns: 60 },
  );
});
