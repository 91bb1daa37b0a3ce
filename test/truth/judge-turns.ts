/** Turns: each end is told once, with the right verdict and not before it happened; nothing is idle meanwhile. */
import type { Finding } from "./finding.ts";
import type { Event, History, Span, TrueTurn, Verdict } from "./history.ts";
import { tagOf } from "./ground-truth.ts";
import { dueAfter } from "./patience.ts";

const ENDS: Readonly<Record<string, Verdict>> = {
  "turn-completed": "completed",
  "turn-failed": "failed",
  "turn-interrupted": "interrupted",
};

export interface ToldEnd {
  readonly event: Event;
  readonly verdict: Verdict;
}

/** The model hears of the end of an answer a moment after the agent may have. */
const AHEAD_MS = 1_000;

export function judgeTurns(history: History): readonly Finding[] {
  return [...judgeEnds(history), ...judgeIdle(history)];
}

/** A verdict that was only inferred may be corrected later: the last word counts, and corrections are counted apart. */
export function toldEnds(events: readonly Event[]): readonly ToldEnd[] {
  return events.flatMap((event) => {
    const told = ENDS[event.type];
    if (told === undefined) return [];
    const correction = events.findLast(
      ({ type, seq, data }) => type === CORRECTED && seq > event.seq && data["turn"] === event.data["turn"],
    );
    return [{ event, verdict: (correction?.data["verdict"] as Verdict | undefined) ?? told }];
  });
}

export const CORRECTED = "turn-corrected";

function judgeEnds(history: History): readonly Finding[] {
  const findings: Finding[] = [];
  for (const { turn, end } of alignEnds(history.turns, toldEnds(history.events))) {
    if (turn === null && end !== null && !wasNeverAsked(history, end))
      findings.push({
        kind: "doubled-wake",
        text: `${end.event.type} (event ${end.event.seq}) was told, and no turn ended`,
        at: end.event.at,
      });
    if (turn === null) continue;
    if (end === null) {
      const dueAt = turn.endedAt === null ? null : dueAfter(history, turn.endedAt, history.finishedAt);
      if (isDue(turn) && dueAt !== null && dueAt < history.finishedAt)
        findings.push({
          kind: "missed-wake",
          text: `${nameOf(turn)} was ${turn.verdict}, and its end was never told`,
          at: turn.endedAt ?? 0,
        });
      continue;
    }
    const endedAt = turn.endedAt ?? Number.POSITIVE_INFINITY;
    if (end.event.at < endedAt - AHEAD_MS)
      findings.push({
        kind: "false-idle",
        text: `${end.event.type} (event ${end.event.seq}) was told ${agoOf(end.event.at, turn.endedAt)} ${nameOf(turn)} was over`,
        at: end.event.at,
      });
    else if (!turn.allowed.includes(end.verdict))
      findings.push({
        kind: "wrong-reason",
        text: `${nameOf(turn)} was ${turn.verdict}, and ${end.event.type} was told (event ${end.event.seq})`,
        at: end.event.at,
      });
  }
  return findings;
}

/** The model knows nothing of a turn that was stopped before the agent had asked it; the conversation has its prompt. */
function wasNeverAsked({ interrupts, sent, turns, arrivals }: History, { verdict, event }: ToldEnd): boolean {
  const isLost = (tag: string): boolean =>
    arrivals.some(({ text }) => text.includes(tag)) && !turns.some(({ prompt }) => tagOf(prompt) === tag);
  return (
    verdict === "interrupted" &&
    interrupts.some(
      ({ at, turn }) => at <= event.at && sent.some(({ tag, how }) => (tag === turn || how === "start") && isLost(tag)),
    )
  );
}

function isDue(turn: TrueTurn): boolean {
  return !turn.isOptional && !turn.mayJoin && turn.verdict !== "died" && turn.verdict !== "open";
}

export interface Pair {
  readonly turn: TrueTurn | null;
  readonly end: ToldEnd | null;
}

const WRONG = 3;
const UNMATCHED = 2;
const EARLY = 1;

/** Between two ways that are equally true, the one in which ends are told sooner is the likely one. */
function costOf({ allowed, endedAt }: TrueTurn, { verdict, event }: ToldEnd): number {
  const isEarly = event.at < (endedAt ?? Number.POSITIVE_INFINITY) - AHEAD_MS;
  const distance = Math.min(0.1, Math.abs(event.at - (endedAt ?? event.at)) / 100_000);
  return (allowed.includes(verdict) ? 0 : WRONG) + (isEarly ? EARLY : 0) + distance;
}

/** Both lists in order, matched so that the least is wrong: an end may come late, but not before its turn began. */
export function alignEnds(turns: readonly TrueTurn[], ends: readonly ToldEnd[]): readonly Pair[] {
  interface Best {
    readonly cost: number;
    readonly pairs: readonly Pair[];
  }
  const table: Best[][] = [];
  const at = (row: number, column: number): Best | undefined => (row < 0 ? undefined : table[row]?.[column]);
  for (let row = 0; row <= turns.length; row++) {
    const line: Best[] = [];
    table.push(line);
    for (let column = 0; column <= ends.length; column++) {
      const turn = turns[row - 1];
      const end = ends[column - 1];
      const ways: Best[] = row === 0 && column === 0 ? [{ cost: 0, pairs: [] }] : [];
      const add = (from: Best | undefined, cost: number, pair: Pair): void => {
        if (from !== undefined) ways.push({ cost: from.cost + cost, pairs: [...from.pairs, pair] });
      };
      if (turn !== undefined && end !== undefined && end.event.at >= turn.startedAt - AHEAD_MS)
        add(at(row - 1, column - 1), costOf(turn, end), { turn, end });
      if (turn !== undefined) add(at(row - 1, column), isDue(turn) ? UNMATCHED : 0.01, { turn, end: null });
      if (end !== undefined) add(column === 0 ? undefined : line[column - 1], UNMATCHED, { turn: null, end });
      line.push(ways.reduce((best, way) => (way.cost < best.cost ? way : best)));
    }
  }
  return table.at(-1)?.at(-1)?.pairs ?? [];
}

/** Idle is claimed by events and by `list`; both count, once for each thing that was going on. */
function judgeIdle(history: History): readonly Finding[] {
  const claims = [
    ...history.events
      .filter((event) => event.type === "activity-changed" && activityOf(event) === "idle")
      .map((event) => ({ at: event.at, until: event.at, what: `event ${event.seq}` })),
    ...history.samples
      .filter((sample) => sample.activity === "idle")
      .map((sample) => ({ at: sample.askedAt, until: sample.answeredAt, what: "list" })),
  ];
  return busySpans(history).flatMap((span) => {
    const lie = claims.find(
      ({ at, until }) => dueAfter(history, span.from, at) < at && until < (span.to ?? history.finishedAt) - AHEAD_MS,
    );
    if (lie === undefined) return [];
    const text = `idle was claimed (${lie.what}) ${seconds(lie.at - span.from)} into ${span.what}`;
    return [{ kind: "false-idle" as const, text, at: lie.at }];
  });
}

/** A Codex with its app-server takes messages over its protocol whatever is on its screen: a dialog there is nobody's business. */
function busySpans({ mode, turns, questions, dialogs }: History): readonly Span[] {
  return [
    ...turns.map((turn) => ({ from: turn.startedAt, to: turn.endedAt, what: nameOf(turn) })),
    ...questions.map(({ askedAt, settledAt, subject }) => ({
      from: askedAt,
      to: settledAt,
      what: `the question ${subject}`,
    })),
    ...(mode === "codex" ? [] : dialogs).map((span) => ({ ...span, what: `the dialog ${span.what}` })),
  ];
}

export function activityOf(event: Event): string {
  return (event.data["activity"] as { readonly status?: string } | undefined)?.status ?? "";
}

export function nameOf({ prompt }: TrueTurn): string {
  const words = prompt.replaceAll(/\s+/g, " ").slice(0, 70);
  return `the turn "${words}"`;
}

function agoOf(at: number, endedAt: number | null): string {
  return endedAt === null ? "although" : `${seconds(endedAt - at)} before`;
}

export function seconds(ms: number): string {
  return `${(ms / 1_000).toFixed(1)} s`;
}
