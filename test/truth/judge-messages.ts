/** Messages: each arrives once, alone and in order, and what is told of it is what happened. */
import type { Finding } from "./finding.ts";
import type { Arrival, Event, History, Sent } from "./history.ts";

export type Outcome = "delivered" | "refused" | "unknown";

const TAG = /q\d+n\d+q/g;
/** Texts that an agent gives itself. */
const OWN = [/^<task-notification>/, /^\[System: /];

export function judgeMessages(history: History): readonly Finding[] {
  return [
    ...history.sent.flatMap((sent) => judgeMessage(history, sent)),
    ...judgeStrays(history),
    ...judgeOrder(history),
  ];
}

export function outcomeOf(events: readonly Event[], { messageId, how }: Sent): Outcome | null {
  if (how === "start" || how === "person") return null;
  const told = events.findLast(
    (event) => event.data["message_id"] === messageId && /^message-(?:delivered|refused|unknown)$/.test(event.type),
  );
  return told === undefined ? null : (told.type.slice("message-".length) as Outcome);
}

function judgeMessage(history: History, sent: Sent): readonly Finding[] {
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
  const other = arrived.find(({ text }) => plain(text) !== plain(sent.text));
  if (other !== undefined) findings.push(found("fused", `${name} arrived as ${quote(other, sent)}`, other.at));
  if (!sent.isAcknowledged || sent.how === "start" || sent.how === "person") return findings;
  if (outcome === "refused") findings.push(found("wrong-outcome", `${name} was told refused, and arrived`));
  if (outcome === null) findings.push(found("wrong-outcome", `${name} arrived, and its outcome was never told`));
  return findings;
}

/** What reached the agent and was sent by nobody. */
function judgeStrays({ arrivals, sent }: History): readonly Finding[] {
  return arrivals
    .filter(({ text }) => !OWN.some((pattern) => pattern.test(text)))
    .filter(({ text }) => !sent.some(({ tag }) => text.includes(tag)))
    .map(({ text, at }) => ({
      kind: "fused" as const,
      text: `a text arrived that nobody sent: "${text.slice(0, 80)}"`,
      at,
    }));
}

/** Those that only wait for their turn keep their order. */
function judgeOrder({ events, sent, arrivals }: History): readonly Finding[] {
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

/** As agents alter what is typed: blanks, tabs and line ends, a zero-width space in front. */
export function plain(text: string): string {
  return text.replaceAll("\u200b", "").replaceAll(/\s+/g, " ").trim();
}

function quote({ text }: Arrival, sent: Sent): string {
  const others = [...text.matchAll(TAG)].map(([tag]) => tag).filter((tag) => tag !== sent.tag);
  const with_ = others.length === 0 ? "" : `, together with ${others.join(", ")}`;
  const got = plain(text);
  const cut = got.length > 160 ? `${got.slice(0, 80)} … ${got.slice(-70)}` : got;
  return `"${cut}" (${got.length} characters instead of ${plain(sent.text).length})${with_}`;
}
