/** Ends are proven, and told: none while the process lives, one for each that died. The transcript is not called lost while it is there. */
import type { Finding } from "./finding.ts";
import type { History, Sample } from "./history.ts";
import { dueAfter, graceOf } from "./patience.ts";

/** Reeve looks at what nobody reports every few seconds. */
const LOOKS_EVERY_MS = 6_000;

export function judgeLiveness(history: History): readonly Finding[] {
  return [...judgeSamples(history), ...judgeExitEvents(history), ...judgeTranscript(history)];
}

function claimsEnd({ state, liveness }: Sample): boolean {
  if (state === "starting" || state === "planned") return false;
  return state === "stopped" || liveness === "exited" || liveness === "absent";
}

function judgeSamples({ samples }: History): readonly Finding[] {
  const lie = samples.find((sample) => claimsEnd(sample) && sample.isAlive === true);
  if (lie === undefined) return [];
  const text = `list said ${lie.state}, ${lie.liveness}, and its process was there before and after`;
  return [{ kind: "false-ended", text, at: lie.askedAt }];
}

function judgeExitEvents(history: History): readonly Finding[] {
  const told = history.events.filter((event) => event.type === "session-exited");
  const incarnationOf = (data: Readonly<Record<string, unknown>>): number => Number(data["incarnation"]);
  const findings: Finding[] = [];
  for (const event of told) {
    const incarnation = incarnationOf(event.data);
    const death = history.deaths.find((one) => one.incarnation === incarnation);
    if (death === undefined || event.at < death.at - 1_000)
      findings.push({
        kind: "false-ended",
        text: `the end of process ${incarnation} was told (event ${event.seq}), and it had not ended`,
        at: event.at,
      });
    if (told.find((other) => incarnationOf(other.data) === incarnation) !== event)
      findings.push({ kind: "doubled-wake", text: `the end of process ${incarnation} was told twice`, at: event.at });
  }
  for (const death of history.deaths) {
    const event = told.find((one) => incarnationOf(one.data) === death.incarnation);
    const dueAt = dueAfter(history, death.at, history.finishedAt) + LOOKS_EVERY_MS;
    if (event === undefined ? dueAt < history.finishedAt : event.at > dueAt)
      findings.push({
        kind: "missed-wake",
        text: `process ${death.incarnation} ended (${death.cause}), and that was told ${event === undefined ? "never" : "late"}`,
        at: death.at,
      });
  }
  return findings;
}

function judgeTranscript(history: History): readonly Finding[] {
  const { samples } = history;
  const isLie = (sample: Sample): boolean => sample.observability === "lost" && sample.hasTranscript === true;
  const first = samples.findIndex(isLie);
  const until = samples.findIndex((sample, index) => index > first && !isLie(sample));
  const from = samples[first];
  const last = samples.at(until === -1 ? -1 : until - 1);
  if (from === undefined || last === undefined || last.answeredAt - from.askedAt < graceOf(history)) return [];
  return [{ kind: "false-lost", text: "its transcript was called lost, and it is there", at: from.askedAt }];
}
