/** For tests only: the facts of a session that was killed in the middle of everything. */
import type { CheckoutFacts, Found, MailFact, RecoveryFacts } from "./recovery.ts";

export const NOW = Date.parse("2026-11-17T12:00:00Z");
const MINUTE = 60_000;
const ago = (minutes: number): number => NOW - minutes * MINUTE;

export function found<T>(value: T, at = NOW): Found<T> {
  return { known: true, value, at };
}

export function notFound(why: string): Found<never> {
  return { known: false, why, at: NOW };
}

export function mailFact(fields: Partial<MailFact> = {}): MailFact {
  return {
    id: "mail-1",
    from: "session planner",
    kind: "note",
    priority: "normal",
    subject: "About the parser",
    preview: "It is slow.",
    seq: 90,
    sentAt: ago(12),
    ...fields,
  };
}

export function checkoutFact(fields: Partial<CheckoutFacts> = {}): CheckoutFacts {
  return {
    root: "/repository",
    declared: "feature",
    actual: "feature",
    underWay: [],
    changed: [],
    conflicted: [],
    untracked: [],
    ahead: null,
    behind: null,
    stashes: [],
    locks: [],
    moves: found([]),
    ...fields,
  };
}

/** Nothing is wrong. */
export function recoveryFacts(fields: Partial<RecoveryFacts> = {}): RecoveryFacts {
  return {
    now: NOW,
    session: {
      id: "abcdefghjk",
      name: "builder",
      agent: "claude",
      state: "running",
      reason: "It runs.",
      reasonAt: ago(2),
      incarnation: 2,
      startedAt: ago(2),
      isEnded: false,
      isRunning: true,
    },
    mail: found([]),
    wakes: found({ restartedAt: ago(2), given: [], due: [], stale: 0 }),
    prompt: found({ text: "Fix the parser", at: ago(30), source: "transcript" }),
    checkout: found(checkoutFact()),
    turn: found({
      turn: 3,
      how: "completed",
      source: "hook",
      at: ago(20),
      error: null,
      call: null,
      callUnknown: null,
      later: null,
    }),
    messages: [],
    doings: found([]),
    work: [],
    layers: null,
    ...fields,
  };
}

/** Killed in a tool call, in a rebase, with two mails, forty old wakes and one hand-off. */
export function troubledFacts(): RecoveryFacts {
  const handOff = mailFact({
    id: "mail-2",
    kind: "hand-off",
    priority: "high",
    subject: "Take over the lexer",
    seq: 95,
  });
  return recoveryFacts({
    mail: found([mailFact(), handOff]),
    wakes: found({
      restartedAt: ago(2),
      given: Array.from({ length: 40 }, (_, index) => ({
        since: 50 + index,
        through: 51 + index,
        count: 1,
        at: ago(60 - index),
      })).concat({ since: 94, through: 96, count: 2, at: ago(10) }),
      due: [{ name: "fix", reason: "exited", at: ago(1) }],
      stale: 0,
    }),
    checkout: found(
      checkoutFact({
        actual: "commit 1234abcd (a rebase of feature)",
        underWay: ["a rebase of feature"],
        changed: ["src/lexer.ts"],
        conflicted: ["src/parser.ts"],
        untracked: ["notes.txt"],
        stashes: ["stash@{0}: WIP on feature: half of it"],
        locks: [{ path: "/repository/.git/index.lock", madeAt: ago(4) }],
        moves: found(["checkout: moving from feature to main"]),
      }),
    ),
    turn: found({
      turn: 3,
      how: "cut-short",
      source: "runtime",
      at: ago(3),
      error: null,
      call: { tool: "Bash", input: '{"command":"npm test"}', at: ago(4) },
      callUnknown: null,
      later: 4,
    }),
    messages: [{ id: "m-1", by: "the operator", state: "admitted", text: "Are you there?", at: ago(1) }],
    doings: found([
      { what: "Restarted on request.", at: ago(2) },
      { what: "Its process was killed by SIGKILL.", at: ago(3) },
    ]),
    work: [{ id: "w-1", title: "The parser", state: "in-progress", since: ago(50) }],
  });
}
