/**
 * What really happened in a lane, from sources that are not Reeve's: the
 * scripted model's record of requests, or the practice agent's own file.
 */
import type { RecordedRequest } from "../scripted-model/record.ts";
import type { Arrival, TrueTurn, Verdict } from "./history.ts";
import { plain } from "./judge-messages.ts";
import { BACKGROUND_SECONDS } from "./prompts.ts";

/** What the harness did that ends a turn early. */
export interface Deed {
  readonly what: "stop" | "death";
  readonly at: number;
  /** The tag of the only turn that it is about: Reeve was asked to stop that one. It may take its time. */
  readonly turn?: string;
}

export interface TurnRules {
  /** Errors of the model are not the end of a turn: it asks again and again (docs/spec/agent-behaviors). */
  readonly retriesForever: boolean;
  readonly deeds: readonly Deed[];
  /** Tags of texts that were put into a turn under way. */
  readonly steered: ReadonlySet<string>;
}

const ANY: readonly Verdict[] = ["completed", "failed", "interrupted"];
/** A process that dies so soon after its answer may not have told of it. */
const LAST_WORDS_MS = 1_500;
const SUBAGENT = /b\d+n\d+b/;
const OWN_PROMPT = /^<task-notification>|^\[System: /;
/** What stands for the text of a turn that an agent began itself. */
export const OWN = "(the agent itself)";

export function isSubagent({ prompt }: RecordedRequest): boolean {
  return SUBAGENT.test(prompt) && tagOf(prompt) === "" && !OWN_PROMPT.test(prompt);
}

/** Claude Code 2.1.325 asks by itself when something in the background ended: nobody typed that. */
export function isOwnRequest({ prompt, messages }: RecordedRequest): boolean {
  return OWN_PROMPT.test(prompt) || /^<system-reminder>\s*\[SYSTEM NOTIFICATION/.test(messages.at(-1)?.text ?? "");
}

/** Requests one after the other about the same prompt are one turn; one that is asked again after its end is another. */
export function turnsOf(requests: readonly RecordedRequest[], rules: TurnRules): readonly TrueTurn[] {
  const groups: RecordedRequest[][] = [];
  for (const request of requests.filter((one) => !isSubagent(one))) {
    const group = groups.at(-1);
    const last = group?.at(-1);
    if (group !== undefined && last?.prompt === request.prompt && !isOver(last)) group.push(request);
    else groups.push([request]);
  }
  return groups
    .map((group) => turnOf(group, requests, rules))
    .map((turn, at, turns) =>
      isCutForSteering(turn, groups[at]?.at(-1), turns[at + 1]) ? { ...turn, isOptional: true } : turn,
    );
}

/** The agent cut its own line to ask again with what was put into the turn: one turn, two requests. */
function isCutForSteering(
  { endedAt }: TrueTurn,
  last: RecordedRequest | undefined,
  next: TrueTurn | undefined,
): boolean {
  const isCut = last?.outcome === "aborted" && last.finishedAt !== undefined;
  return isCut && next?.mayJoin === true && endedAt !== null && next.startedAt - (last.finishedAt ?? 0) < LAST_WORDS_MS;
}

/** Errors are tried again; an answer and a line that the agent cut are the end. */
function isOver({ outcome, calls }: RecordedRequest): boolean {
  return (outcome === "answered" && calls.length === 0) || outcome === "aborted";
}

function turnOf(group: readonly RecordedRequest[], all: readonly RecordedRequest[], rules: TurnRules): TrueTurn {
  const [first] = group;
  const last = group.at(-1);
  if (first === undefined || last === undefined) throw new Error("a turn has a request");
  const { at: startedAt } = first;
  const isOwn = isOwnRequest(first);
  const prompt = isOwn ? `${OWN} after ${first.prompt}` : first.prompt;
  const tag = tagOf(prompt);
  const { verdict, endedAt } = endOf(last, startedAt, rules);
  const backgroundEndedAt = endedAt === null ? null : backgroundEndOf(group, all, endedAt, rules);
  const diesNow = rules.deeds.some(
    ({ what, at }) => what === "death" && endedAt !== null && at >= endedAt - 500 && at - endedAt < LAST_WORDS_MS,
  );
  // The model was gone and somebody pressed Esc, before the agent had told of either.
  const isStopped =
    verdict === "failed" &&
    rules.deeds.some(({ what, at }) => what === "stop" && endedAt !== null && Math.abs(at - endedAt) < LAST_WORDS_MS);
  // Its answer came while somebody wanted it stopped: Gemini CLI says that it was cancelled, and that it is done.
  const isOvertaken = verdict === "completed" && rules.deeds.some(({ what, turn }) => what === "stop" && turn === tag);
  return {
    prompt,
    startedAt,
    endedAt: backgroundEndedAt,
    verdict,
    says: verdict === "completed" && !isOwn && last.says !== "" ? last.says : null,
    mayJoin: rules.steered.has(tag) || isOwn,
    allowed: isStopped || isOvertaken ? [verdict, "interrupted"] : allowedFor(verdict, last, diesNow),
    isOptional: diesNow || verdict === "died",
  };
}

function allowedFor(verdict: TrueTurn["verdict"], last: RecordedRequest, diesNow: boolean): readonly Verdict[] {
  if (verdict === "died" || diesNow) return ANY;
  if (verdict === "open") return [];
  // Stopped while it was about to try again: both are true.
  if (verdict === "interrupted" && (last.outcome === "failed" || last.outcome === "disconnected"))
    return ["failed", verdict];
  return [verdict];
}

function endOf(
  last: RecordedRequest,
  startedAt: number,
  { deeds, retriesForever }: TurnRules,
): { readonly verdict: TrueTurn["verdict"]; readonly endedAt: number | null } {
  // What a process started may outlive it for a moment, and with it the line to the model.
  const deed = deeds.find(({ what, at, turn }) =>
    turn === undefined
      ? at >= startedAt && (what === "death" || at >= (last.finishedAt ?? last.at) - LAST_WORDS_MS)
      : turn === tagOf(last.prompt),
  );
  const byDeed = (at: number | undefined) =>
    deed === undefined
      ? ({ verdict: "open", endedAt: null } as const)
      : ({ verdict: deed.what === "death" ? "died" : "interrupted", endedAt: at ?? deed.at } as const);
  if (last.outcome === undefined) return { verdict: "open", endedAt: null };
  switch (last.outcome) {
    case "answered":
      return last.calls.length === 0
        ? { verdict: "completed", endedAt: last.finishedAt ?? last.at }
        : byDeed(undefined);
    case "failed":
    case "disconnected":
      // Words that were cut off are not asked for again.
      if (retriesForever && !last.prompt.includes("[[disconnect midway]]")) return byDeed(undefined);
      return { verdict: "failed", endedAt: last.finishedAt ?? last.at };
    case "hung":
    case "aborted":
      if (last.finishedAt === undefined) return { verdict: "open", endedAt: null };
      return deed === undefined ? { verdict: "failed", endedAt: last.finishedAt } : byDeed(last.finishedAt);
  }
}

/** What was started in the background goes on after the answer, unless a deed cut it short. */
function backgroundEndOf(
  group: readonly RecordedRequest[],
  all: readonly RecordedRequest[],
  endedAt: number,
  { deeds }: TurnRules,
): number {
  const calls = group.flatMap((request) =>
    request.calls.map((call) => ({ call, at: request.finishedAt ?? request.at })),
  );
  const ends = calls.flatMap(({ call, at }) => {
    const input = JSON.stringify(call.input);
    if (input.includes('"run_in_background":true')) return [at + BACKGROUND_SECONDS * 1_000];
    const tag = SUBAGENT.exec(input)?.[0];
    const below = tag === undefined ? [] : all.filter((one) => isSubagent(one) && one.prompt.includes(tag));
    return below.map((request) => request.finishedAt ?? Number.POSITIVE_INFINITY);
  });
  const cutAt = deeds.find(({ what, at }) => what === "death" && at > endedAt)?.at ?? Number.POSITIVE_INFINITY;
  return Math.max(endedAt, Math.min(cutAt, ...(ends.length === 0 ? [endedAt] : [Math.max(...ends)])));
}

export function tagOf(text: string): string {
  return /q\d+n\d+q/.exec(text)?.[0] ?? "";
}

/** Every text that stands in a conversation the model was shown. */
export function arrivalsOf(requests: readonly RecordedRequest[], turns: readonly TrueTurn[]): readonly Arrival[] {
  const found = new Map<string, Arrival>();
  for (const request of requests.filter((one) => !isSubagent(one))) {
    const texts = request.typed.map(plain);
    for (const text of new Set(texts)) {
      const before = found.get(text);
      const times = texts.filter((other) => other === text).length;
      const typed = request.typed.find((one) => plain(one) === text) ?? text;
      found.set(text, {
        text: before?.text ?? typed,
        at: before?.at ?? request.at,
        times: Math.max(before?.times ?? 0, times, turns.filter(({ prompt }) => plain(prompt) === text).length),
      });
    }
  }
  return [...found.values()];
}

interface PracticeLine {
  readonly type: string;
  readonly turn?: number;
  readonly at?: string;
  readonly text?: string;
}

/** The practice agent's file: a line when a turn begins, the prompt, the reply, how it ended. */
export function practiceTurns(file: string, rules: TurnRules): readonly TrueTurn[] {
  const lines = practiceLines(file);
  const started = lines.filter(({ type }) => type === "turn_started");
  return started.map(({ turn, at = "" }) => {
    const mine = lines.filter((line) => line.turn === turn);
    const prompt = mine.find(({ type }) => type === "user")?.text ?? "";
    const says = mine.find(({ type }) => type === "assistant")?.text ?? null;
    const end = mine.find(({ type }) => /^turn_(?:completed|failed|interrupted)$/.test(type));
    const startedAt = Date.parse(at);
    const death = rules.deeds.find((deed) => deed.what === "death" && deed.at >= startedAt);
    const verdict = end === undefined ? (death === undefined ? "open" : "died") : (end.type.slice(5) as Verdict);
    const endedAt = end === undefined ? (death?.at ?? null) : Date.parse(end.at ?? "");
    const diesNow = death !== undefined && endedAt !== null && Math.abs(death.at - endedAt) < LAST_WORDS_MS;
    return {
      prompt,
      startedAt,
      endedAt,
      verdict,
      says: verdict === "completed" ? says : null,
      mayJoin: false,
      allowed: diesNow || verdict === "died" ? ANY : verdict === "open" ? [] : [verdict],
      isOptional: diesNow || verdict === "died",
    };
  });
}

export function practiceArrivals(file: string): readonly Arrival[] {
  const prompts = practiceLines(file).filter(({ type }) => type === "user");
  return [...new Set(prompts.map(({ text = "" }) => text))].map((text) => {
    const mine = prompts.filter((line) => line.text === text);
    return { text, at: Date.parse(mine[0]?.at ?? ""), times: mine.length };
  });
}

function practiceLines(file: string): readonly PracticeLine[] {
  return file.split("\n").flatMap((line) => {
    try {
      return [JSON.parse(line) as PracticeLine];
    } catch {
      return [];
    }
  });
}
