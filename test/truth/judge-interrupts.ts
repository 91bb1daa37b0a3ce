/** Interrupts: each stops the turn that it was asked about and no other, and the message that it came with goes ahead of what waited. */
import type { Finding } from "./finding.ts";
import { tagOf } from "./ground-truth.ts";
import type { History, Interrupt, TrueTurn } from "./history.ts";
import { nameOf } from "./judge-turns.ts";
import { isDisturbed } from "./patience.ts";

export function judgeInterrupts(history: History): readonly Finding[] {
  return history.interrupts.flatMap((interrupt) => [
    ...judgeStopped(history, interrupt),
    ...judgeSpared(history, interrupt),
    ...judgeOvertaken(history, interrupt),
  ]);
}

function judgeStopped({ turns }: History, interrupt: Interrupt): readonly Finding[] {
  if (!interrupt.isUnderWay) return [];
  const turn = turns.find(({ prompt }) => tagOf(prompt) === interrupt.turn);
  if (turn === undefined || turn.verdict === "interrupted" || turn.verdict === "died") return [];
  const text = `${nameOf(turn)} was to be interrupted, and it was ${turn.verdict === "open" ? "not" : turn.verdict}`;
  return [{ kind: "wrong-turn", text, at: interrupt.at }];
}

/** Nothing else cuts these turns short: the model answers each of them. */
function judgeSpared({ turns, interrupts }: History, interrupt: Interrupt): readonly Finding[] {
  const spared = [...interrupt.waiting, ...(interrupt.tag === null ? [] : [interrupt.tag])];
  const isCut = ({ verdict }: TrueTurn): boolean => verdict === "interrupted" || verdict === "failed";
  return turns
    .filter((turn) => isCut(turn) && spared.includes(tagOf(turn.prompt)))
    .filter(({ prompt }) => !interrupts.some((other) => other.turn === tagOf(prompt)))
    .map((turn) => ({
      kind: "wrong-turn" as const,
      text: `${nameOf(turn)} was cut off, and the interrupt was asked for before it began`,
      at: turn.endedAt ?? turn.startedAt,
    }));
}

function judgeOvertaken(history: History, interrupt: Interrupt): readonly Finding[] {
  const { at, answeredAt, isUnderWay, tag, waiting } = interrupt;
  // Where the turn ends by itself while nobody can answer, what waited may have been typed before anything was asked.
  if (tag === null || (!isUnderWay && isDisturbed(history, at, answeredAt))) return [];
  const arrivedAt = (one: string): number =>
    Math.min(...history.arrivals.filter(({ text }) => text.includes(one)).map((arrival) => arrival.at));
  const before = history.sent.find(
    (one) => one.how === "queue" && waiting.includes(one.tag) && arrivedAt(one.tag) < arrivedAt(tag),
  );
  if (before === undefined || !Number.isFinite(arrivedAt(tag))) return [];
  const text = `${before.tag} waited, and arrived before ${tag}, which interrupts`;
  return [{ kind: "reordered", text, at: arrivedAt(before.tag) }];
}
