/** Waiters: each end, question and death wakes a waiter with a cursor once, in time, with what is asked. */
import type { Finding } from "./finding.ts";
import type { Event, History, Span, TrueQuestion, Wake } from "./history.ts";
import { alignEnds, nameOf, seconds, toldEnds } from "./judge-turns.ts";
import { contains, dueAfter, graceOf, isDisturbed } from "./patience.ts";

/** Reeve may hear of something a moment before the harness does. */
const AHEAD_MS = 1_000;

export function judgeWakes(history: History): readonly Finding[] {
  return [
    ...judgeCursor(history),
    ...history.questions.flatMap((question) => judgeQuestion(history, question)),
    ...history.dialogs.flatMap((dialog) => judgeDialog(history, dialog)),
    ...judgeStrayWakes(history),
    ...judgeExits(history),
    ...judgeReplies(history),
    ...judgeLooseWaits(history),
  ];
}

/** The waiter goes on from each cursor, so no event may wake it twice, and none of these may be passed over. */
function judgeCursor({ events, wakes }: History): readonly Finding[] {
  const findings: Finding[] = [];
  wakes.forEach((wake, index) => {
    // Whoever waits for what has ended is told so at once, as often as they ask.
    if (wake.reason !== "exited" && wakes.findIndex((other) => other.cursor === wake.cursor) < index)
      findings.push({ kind: "doubled-wake", text: `event ${wake.cursor} woke the waiter twice`, at: wake.at });
  });
  for (const { event } of toldEnds(events)) {
    const wake = wakes.find(({ cursor }) => cursor === event.seq);
    if (wake === undefined)
      findings.push({ kind: "missed-wake", text: `${event.type} (event ${event.seq}) woke nobody`, at: event.at });
    else if (wake.reason !== event.type)
      findings.push({
        kind: "wrong-reason",
        text: `${event.type} (event ${event.seq}) woke as ${wake.reason}`,
        at: wake.at,
      });
  }
  return findings;
}

function judgeQuestion(history: History, question: TrueQuestion): readonly Finding[] {
  const until = question.settledAt ?? history.finishedAt;
  const wakes = wakesFor(history, "awaiting-approval").filter(
    ({ event }) => questionAt(history, event.at) === question,
  );
  const name = `the question ${question.subject}`;
  if (wakes.length === 0)
    return dueAfter(history, question.askedAt, until) < until
      ? [{ kind: "missed-wake", text: `nobody was told of ${name}`, at: question.askedAt }]
      : [];
  const findings: Finding[] = [];
  const [first] = wakes;
  if (wakes.length > question.count && first !== undefined)
    findings.push({ kind: "doubled-wake", text: `${name} woke the waiter ${wakes.length} times`, at: first.event.at });
  const silent = wakes.find(({ event }) => asksOf(event) === null);
  if (silent !== undefined)
    findings.push({
      kind: "wrong-reason",
      text: `event ${silent.event.seq} says that it asks, but not what (${name})`,
      at: silent.event.at,
    });
  return findings;
}

/** The one that stood at that time, or was about to; else the one before it, of which the news is late. */
function questionAt({ questions }: History, at: number): TrueQuestion | undefined {
  const index = questions.findIndex(({ settledAt }) => (settledAt ?? Number.POSITIVE_INFINITY) >= at);
  const open = index < 0 ? undefined : questions[index];
  if (open !== undefined && open.askedAt - AHEAD_MS <= at) return open;
  return index < 0 ? questions.at(-1) : questions[index - 1];
}

/** A dialog need not wake anybody, but one dialog is not two. */
function judgeDialog(history: History, dialog: Span): readonly Finding[] {
  const wakes = wakesFor(history, "awaiting-input").filter(({ event }) =>
    contains({ ...dialog, from: dialog.from - AHEAD_MS }, event.at),
  );
  if (wakes.length <= 1) return [];
  const text = `the dialog ${dialog.what} woke the waiter ${wakes.length} times (events ${wakes.map(({ event }) => event.seq).join(", ")})`;
  return [{ kind: "doubled-wake", text, at: dialog.from }];
}

/** Questions and stalls that were none. */
function judgeStrayWakes(history: History): readonly Finding[] {
  const grace = graceOf(history);
  const isNear = (from: number, to: number | null, at: number): boolean =>
    contains({ from: from - 1_000, to: to === null ? null : dueAfter(history, to, at), what: "" }, at);
  const stray = [
    ...wakesFor(history, "awaiting-approval").filter(
      ({ event }) => !history.questions.some((one) => isNear(one.askedAt, one.settledAt, event.at)),
    ),
    ...wakesFor(history, "awaiting-input").filter(
      ({ event }) => !history.dialogs.some((one) => isNear(one.from, one.to, event.at)),
    ),
    ...wakesFor(history, "stalled").filter(
      ({ event }) => !history.turns.some((one) => isNear(one.startedAt, one.endedAt, event.at - grace)),
    ),
  ];
  return stray.map(({ wake, event }) => ({
    kind: "wrong-reason" as const,
    text: `the waiter was woken with ${wake.reason} (event ${event.seq}), which is not so`,
    at: event.at,
  }));
}

/** Each end of a process wakes, and nothing is told as ended while its next process lives. */
function judgeExits(history: History): readonly Finding[] {
  const wakes = history.wakes.filter(({ reason }) => reason === "exited");
  const missed = history.deaths.flatMap((death): readonly Finding[] => {
    const told = history.events.find(
      ({ type, data }) => type === "session-exited" && data["incarnation"] === death.incarnation,
    );
    // A restart is no end for a waiter; an end that is not in the log is found elsewhere.
    if (death.cause === "restarted" || told === undefined) return [];
    const next = history.events.find(({ type, seq }) => type === "session-starting" && seq > told.seq)?.seq;
    const isWoken = wakes.some(({ cursor }) => cursor >= told.seq && cursor < (next ?? Number.POSITIVE_INFINITY));
    if (isWoken || dueAfter(history, told.at, history.finishedAt) >= history.finishedAt) return [];
    const text = `nobody was woken by the end of process ${death.incarnation} (${death.cause}, event ${told.seq})`;
    return [{ kind: "missed-wake", text, at: death.at }];
  });
  const stale = wakes.find(({ at }) => livingAt(history, at) !== null);
  if (stale === undefined) return missed;
  const text = `the waiter was told exited, and process ${livingAt(history, stale.at)} lived`;
  return [...missed, { kind: "wrong-reason", text, at: stale.at }];
}

function livingAt(history: History, at: number): number | null {
  const living = history.births.find((birth) => {
    const death = history.deaths.find(({ incarnation }) => incarnation === birth.incarnation);
    return dueAfter(history, birth.at, at) < at && (death === undefined || death.at > at + AHEAD_MS);
  });
  return living?.incarnation ?? null;
}

const LONG_PROMPT = 10_000;
/** From a wake to the answer of `data`, on a busy machine. */
const AFTERWARDS_MS = 2_000;

/** Right after a turn was told complete, `data` shows what was said in it, or says that this may not be written down yet. */
function judgeReplies(history: History): readonly Finding[] {
  return alignEnds(history.turns, toldEnds(history.events)).flatMap(({ turn, end }) => {
    if (turn === null || end?.verdict !== "completed" || turn.says === null) return [];
    // An answer into which more was said may be left out by the agent itself.
    const next = history.turns[history.turns.indexOf(turn) + 1];
    if (next?.mayJoin === true && next.startedAt < end.event.at) return [];
    const wake = history.wakes.find(({ cursor }) => cursor === end.event.seq);
    if (wake?.shown === undefined || wake.shown === null) return [];
    if (history.transcriptDeletedAt !== null && history.transcriptDeletedAt < wake.at) return [];
    if (wake.isBehind || flat(wake.shown).includes(flat(turn.says))) return [];
    // Asked a moment later, `data` shows the next turn: a long prompt, which a transcript may hold twice, fills it.
    if (next !== undefined && next.prompt.length > LONG_PROMPT && next.startedAt < wake.at + AFTERWARDS_MS) return [];
    const text = `${nameOf(turn)} was told complete, and data (${wake.source}) did not show "${turn.says.slice(0, 40)}"`;
    return [{ kind: "reply-missing" as const, text, at: wake.at }];
  });
}

/** `send && wait`: it wakes for the turn of that message, however fast that was. */
function judgeLooseWaits(history: History): readonly Finding[] {
  return history.looseWaits.flatMap(({ tag, reason, askedAt, answeredAt }): readonly Finding[] => {
    const turn = history.turns.find(({ prompt }) => prompt.includes(tag));
    if (turn === undefined || turn.verdict === "died") return [];
    const name = `wait without a cursor after ${nameOf(turn)}`;
    if (reason === "timeout" && turn.endedAt !== null && dueAfter(history, turn.endedAt, answeredAt) < answeredAt)
      return [
        {
          kind: "missed-wake" as const,
          text: `${name} was not woken in ${seconds(answeredAt - askedAt)}`,
          at: askedAt,
        },
      ];
    if (reason === "timeout" || reason === "stalled") return [];
    if (turn.endedAt === null || answeredAt < turn.endedAt - 1_000)
      return [{ kind: "wrong-reason", text: `${name} told ${reason} before that turn was over`, at: answeredAt }];
    if (turn.allowed.some((verdict) => reason === `turn-${verdict}`)) return [];
    return [{ kind: "wrong-reason", text: `${name} told ${reason}, it was ${turn.verdict}`, at: answeredAt }];
  });
}

/** From the end of a turn to the waiter's answer, where nothing was stopped or killed in between. */
export function wakeDelays(history: History): readonly number[] {
  return alignEnds(history.turns, toldEnds(history.events)).flatMap(({ turn, end }) => {
    const wake = history.wakes.find(({ cursor }) => cursor === end?.event.seq);
    if (turn === null || turn.endedAt === null || turn.verdict !== "completed" || wake === undefined) return [];
    return isDisturbed(history, turn.endedAt - 500, wake.at) ? [] : [Math.max(0, wake.at - turn.endedAt)];
  });
}

function wakesFor(
  { events, wakes }: History,
  reason: string,
): readonly { readonly wake: Wake; readonly event: Event }[] {
  return wakes.flatMap((wake) => {
    const event = events.find(({ seq }) => seq === wake.cursor);
    return wake.reason === reason && event !== undefined ? [{ wake, event }] : [];
  });
}

/** What is asked, as the event that woke the waiter has it: a question of its own, or a change of activity. */
function asksOf({ data }: Event): string | null {
  const approval = data["approval"] as { readonly title?: string; readonly subject?: string | null } | undefined;
  const activity = data["activity"] as { readonly asks?: string | null } | undefined;
  return approval?.subject ?? approval?.title ?? activity?.asks ?? null;
}

function flat(text: string): string {
  return text.replaceAll(/\s+/g, " ").trim();
}
