/** Messages: each arrives once, alone and in order, and what is told of it is what happened. */
import type { Finding } from "./finding.ts";
import type { Event, History, Sent } from "./history.ts";

export type Outcome = "delivered" | "refused" | "unknown";

/** Texts that an agent gives itself. */
const OWN = [/^<task-notification>/, /^\[System: /];

export type MessageHistory = Pick<History, "arrivals" | "sent" | "events">;

export function judgeMessages(history: MessageHistory): readonly Finding[] {
  return [
    ...history.sent.flatMap((sent) => judgeMessage(history, sent)),
    ...judgeTexts(history),
    ...judgeOrder(history),
  ];
}

export function isOutcome({ type }: Event): boolean {
  return type === "message-delivered" || type === "message-refused" || type === "message-unknown";
}

export function outcomeOf(events: readonly Event[], { messageId, how }: Sent): Outcome | null {
  if (how === "start" || how === "person") return null;
  const told = events.findLast((event) => isOutcome(event) && event.data["message_id"] === messageId);
  return told === undefined ? null : (told.type.slice("message-".length) as Outcome);
}

function judgeMessage(history: MessageHistory, sent: Sent): readonly Finding[] {
  const arrived = history.arrivals.filter(({ text }) => text.includes(sent.tag));
  const outcome = outcomeOf(history.events, sent);
  const name = `the message ${sent.tag} (${sent.how})`;
  const found = (kind: Finding["kind"], text: string, at = sent.at): Finding => ({ kind, text, at });
  if (arrived.length === 0) {
    if (!sent.isAcknowledged || sent.mayBeMissing) return [];
    if (outcome === "delivered") return [found("swallowed", `${name} was told delivered and never arrived`)];
    if (outcome === "refused")
      return [found("wrong-outcome", `${name} was refused although the session could take it`)];
    return outcome === "unknown" ? [] : [found("lost", `${name} never arrived, and nothing says so`)];
  }
  const findings: Finding[] = [];
  const [first] = arrived;
  const times = arrived.reduce((sum, arrival) => sum + arrival.times, 0);
  if (times > 1) findings.push(found("doubled", `${name} arrived ${times} times`, first?.at));
  if (!sent.isAcknowledged || sent.how === "start" || sent.how === "person") return findings;
  if (outcome === "refused") findings.push(found("wrong-outcome", `${name} was told refused, and arrived`));
  if (outcome === null) findings.push(found("wrong-outcome", `${name} arrived, and its outcome was never told`));
  return findings;
}

/** What reached the agent and is not, word for word, what somebody sent. */
function judgeTexts({ arrivals, sent }: MessageHistory): readonly Finding[] {
  const known = new Set(sent.map(({ text }) => plain(text)));
  return arrivals
    .filter(({ text }) => !OWN.some((pattern) => pattern.test(text)) && !known.has(plain(text)))
    .map(({ text, at }) => ({ kind: "fused" as const, text: describeText(text, sent), at }));
}

function describeText(text: string, sent: readonly Sent[]): string {
  const got = plain(text);
  const cut = got.length > 160 ? `${got.slice(0, 80)} … ${got.slice(-70)}` : got;
  const tags = sent.filter(({ tag }) => text.includes(tag)).map(({ tag }) => tag);
  if (tags.length === 0) return `a text arrived that nobody sent: "${cut}"`;
  return `"${cut}" (${got.length} characters) arrived for ${tags.join(" and ")}`;
}

/** Those that only wait for their turn keep their order. */
function judgeOrder({ events, sent, arrivals }: MessageHistory): readonly Finding[] {
  const admitted = events.filter((event) => event.type === "message-admitted").map((event) => event.data["message_id"]);
  const rank = (message: Sent): number => (message.how === "start" ? -1 : admitted.indexOf(message.messageId));
  const queued = sent
    .filter((message) => message.how === "start" || (message.how === "queue" && rank(message) >= 0))
    .toSorted((one, other) => rank(one) - rank(other));
  const arrivedAt = (message: Sent): number =>
    Math.min(...arrivals.filter(({ text }) => text.includes(message.tag)).map(({ at }) => at));
  const seen = queued.filter((message) => Number.isFinite(arrivedAt(message)));
  return seen.flatMap((message, index) => {
    const before = seen[index - 1];
    if (before === undefined || arrivedAt(before) <= arrivedAt(message)) return [];
    return [
      { kind: "reordered" as const, text: `${message.tag} arrived before ${before.tag}`, at: arrivedAt(message) },
    ];
  });
}

/** What a person has typed stays where it is, until the person sends or deletes it. */
export function judgeDrafts({ drafts }: Pick<History, "drafts">): readonly Finding[] {
  return drafts.flatMap(({ tag, missingAt }) =>
    missingAt === null
      ? []
      : [{ kind: "lost" as const, text: `a person's draft ${tag} was taken out of the composer`, at: missingAt }],
  );
}

/** As agents alter what is typed: blanks, tabs and line ends, a zero-width space in front. */
export function plain(text: string): string {
  return text.replaceAll("\u200b", "").replaceAll(/\s+/g, " ").trim();
}
