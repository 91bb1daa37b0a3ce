/** A history as a person reads it: truth on the left, claims on the right, in the order of time. */
import type { Event, History } from "./history.ts";
import { activityOf } from "./judge-turns.ts";

interface Line {
  readonly at: number;
  readonly side: "truth" | "claim" | "fault";
  readonly text: string;
}

export function timelineOf(history: History): string {
  const lines = [...truths(history), ...claims(history)].toSorted((one, other) => one.at - other.at);
  const first = lines[0]?.at ?? 0;
  const mark = { truth: "  ", claim: "                                  <- ", fault: "!!" };
  return lines.map(({ at, side, text }) => `${String(at - first).padStart(7)} ${mark[side]} ${text}`).join("\n");
}

function truths(history: History): readonly Line[] {
  const line = (at: number | null, text: string, side: Line["side"] = "truth"): readonly Line[] =>
    at === null ? [] : [{ at, side, text }];
  return [
    ...history.turns.flatMap((turn) => [
      ...line(turn.startedAt, `turn begins: ${short(turn.prompt)}`),
      ...line(turn.endedAt, `turn ${turn.verdict}: ${short(turn.prompt)}`),
    ]),
    ...history.questions.flatMap((one) => [
      ...line(one.askedAt, `asks ${one.subject.split("/").at(-1)}`),
      ...line(one.settledAt, "question settled"),
    ]),
    ...history.dialogs.flatMap((one) => [
      ...line(one.from, `dialog ${one.what} opened`),
      ...line(one.to, "dialog closed"),
    ]),
    ...history.deaths.flatMap((one) => line(one.at, `process ${one.incarnation} is gone (${one.cause})`)),
    ...history.sent.flatMap((one) => line(one.at, `sent ${one.tag} (${one.how})`)),
    ...history.interrupts.flatMap((one) =>
      line(
        one.at,
        `interrupt of ${one.turn ?? "nothing"}, with ${one.tag ?? "nothing"}, before ${one.waiting.join(" ")}`,
      ),
    ),
    ...history.drafts.flatMap((one) => [
      ...line(one.from, `draft ${one.tag} typed`),
      ...line(one.missingAt, `draft ${one.tag} is gone`),
      ...line(one.to, `draft ${one.tag} sent or deleted`),
    ]),
    ...history.arrivals.flatMap((one) =>
      one.at < 1e6 ? [] : line(one.at, `arrived (${one.times}x): ${short(one.text)}`),
    ),
    ...history.disturbances.flatMap((one) => [
      ...line(one.from, `${one.what} begins`, "fault"),
      ...line(one.to, `${one.what} over`, "fault"),
    ]),
    ...history.failedCommands.flatMap((one) =>
      line(one.at, `${one.words} ended with ${one.status}: ${short(one.output)}`, "fault"),
    ),
  ];
}

function claims({ events, wakes, samples, looseWaits }: History): readonly Line[] {
  const changes = samples.filter((sample, index) => {
    const before = samples[index - 1];
    return before === undefined || rowOf(before) !== rowOf(sample);
  });
  return [
    ...events.map((event): Line => ({
      at: event.at,
      side: "claim",
      text: `${event.seq} ${event.type}${detailOf(event)}`,
    })),
    ...wakes.map((wake): Line => ({ at: wake.at, side: "claim", text: `WAKE ${wake.reason} (${wake.cursor})` })),
    ...changes.map((sample): Line => ({ at: sample.answeredAt, side: "claim", text: `list: ${rowOf(sample)}` })),
    ...looseWaits.map((one): Line => ({
      at: one.answeredAt,
      side: "claim",
      text: `wait after ${one.tag}: ${one.reason}`,
    })),
  ];
}

function rowOf({ state, liveness, activity, observability }: History["samples"][number]): string {
  return [state, liveness, activity, observability].join(" ");
}

function detailOf(event: Event): string {
  const activity = activityOf(event);
  const evidence = (event.data["evidence"] ??
    (event.data["activity"] as { evidence?: unknown } | undefined)?.evidence) as
    | { readonly source?: string; readonly detail?: string }
    | undefined;
  const reason = (event.data["reason"] as { readonly text?: string } | undefined)?.text;
  return [activity, evidence?.source, evidence?.detail?.slice(0, 70), reason?.slice(0, 70)]
    .filter((word) => word !== undefined && word !== "")
    .map((word) => ` ${word}`)
    .join("");
}

function short(text: string): string {
  const flat = text.replaceAll(/\s+/g, " ");
  return flat.length > 90 ? `${flat.slice(0, 50)} … ${flat.slice(-35)}` : flat;
}
