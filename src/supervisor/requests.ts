/** What callers ask of sessions: start one, send it something, change what is wanted of it. Each is one commit. */
import type { Caller } from "../session/caller.ts";
import type { Clock } from "../platform/clock.ts";
import { newMessageId } from "../platform/ids.ts";
import type { Log } from "../platform/log.ts";
import { hashOfPass } from "../platform/pass.ts";
import { requireFitting, requireFree, workerOf } from "../fleet/work-worker.ts";
import { planSession } from "../session/plan-session.ts";
import type { Session } from "../session/session.ts";
import type { Store } from "../store/contract.ts";
import type { Supervisor } from "./contract.ts";
import type { Breaker } from "./fleet/breaker.ts";
import type { BroughtEnvironments } from "./launch/brought-environments.ts";
import type { Environment } from "./launch/environment.ts";
import type { Passes } from "./launch/passes.ts";
import type { Alongside, Ledger } from "./ledger/ledger.ts";
import { sentMessage } from "./ledger/sent-message.ts";
import type { Taker, WorkBook } from "./ledger/work-book.ts";

/** As the supervisor gives them. */
export interface Requests {
  start(...asked: Parameters<Supervisor["start"]>): ReturnType<Supervisor["start"]>;
  submit(...asked: Parameters<Supervisor["submit"]>): ReturnType<Supervisor["submit"]>;
  bringAgain(...asked: Parameters<Supervisor["bringAgain"]>): ReturnType<Supervisor["bringAgain"]>;
  send(...asked: Parameters<Supervisor["send"]>): ReturnType<Supervisor["send"]>;
  withdraw(...asked: Parameters<Supervisor["withdraw"]>): ReturnType<Supervisor["withdraw"]>;
}

export function createRequests(parts: {
  readonly store: Store;
  readonly ledger: Ledger;
  readonly clock: Clock;
  readonly log: Log;
  readonly brought: BroughtEnvironments;
  readonly passes: Passes;
  readonly breaker: Breaker;
  readonly work: WorkBook;
  readonly environment: Supervisor["environment"];
  /** Whose limits it draws on. */
  readonly account: (
    identity: Pick<Session["identity"], "agent" | "runtime" | "launch">,
    given: Environment,
  ) => Promise<string | null>;
}): Requests {
  const { store, ledger, clock, log, brought, passes, breaker, work, environment, account } = parts;

  /** Where it is given an item of work with it, both are one commit. */
  function giving(
    workId: string | undefined,
    taker: Taker,
    caller: Caller,
    commit: (alongside?: Alongside) => Promise<void>,
  ): Promise<void> {
    return workId === undefined ? commit() : work.give(workId, taker, caller, commit);
  }

  return {
    async start(request, given, { firstMessage, caller, idempotency, workId }) {
      const passHash = hashOfPass(passes.forStart(request.id, 1));
      const quota = { account: await account(request, given) };
      const hasWaited = breaker.isHeld({ id: request.id, identity: request, quota });
      const { session, events } = planSession(
        { ...request, ...quota, passHash, hasWaited },
        clock.now(),
        caller,
        clock.moment(),
      );
      const first = { id: newMessageId(), text: firstMessage ?? "", submit: true, how: "queue" } as const;
      const admit =
        firstMessage === undefined ? undefined : sentMessage(session.id, first, { caller, at: clock.now() });
      const turnsBefore: Taker["turnsBefore"] = (item) => {
        requireFitting(item, workerOf(session));
        return 0;
      };
      await brought.during(session.id, given, () =>
        giving(workId, { sessionId: session.id, worker: workerOf(session), turnsBefore }, caller, (alongside) =>
          ledger.plan(session, events, { caller, idempotency, admit, alongside }),
        ),
      );
      return session;
    },

    submit: (sessionId, command, { environment, ...wish }) =>
      brought.during(sessionId, environment, () => ledger.apply(sessionId, command, wish)),

    bringAgain(sessionId, request) {
      const session = store.registry.get(sessionId);
      if (session?.state !== "starting") return;
      try {
        brought.keep(session, environment(request));
      } catch (error) {
        log("bringing an environment again failed", { why: error });
      }
    },

    send(session, message, { caller, idempotency, workId }) {
      const sent = sentMessage(session.id, message, { caller, at: clock.now() });
      const turnsBefore: Taker["turnsBefore"] = (item) => {
        const now = store.registry.get(session.id) ?? session;
        requireFitting(item, workerOf(now));
        requireFree(now, store.mailbox.open(session.id).length > 0);
        return now.conversation.turns;
      };
      const taker = { sessionId: session.id, worker: workerOf(session), turnsBefore };
      return giving(workId, taker, caller, (alongside) => ledger.admit(sent, { caller, idempotency, alongside }));
    },

    withdraw: (message, wish) => ledger.withdraw(message, wish),
  };
}
