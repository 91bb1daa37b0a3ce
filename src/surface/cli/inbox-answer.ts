/** How people write an answer to an item of the inbox: "approve", "r yes, go on", "snooze 30m". Pure. */
import type { InputOf } from "../../client/operation-types.ts";
import { INBOX_ANSWERS, type InboxAnswer } from "../../session/inbox-kind.ts";
import { usage } from "./usage.ts";
import { didYouMean } from "./suggestion.ts";
import { timeGiven } from "./time-given.ts";

export type GivenAnswer = Omit<InputOf<"answerInbox">, "item">;

const MEANT: ReadonlyMap<string, InboxAnswer> = new Map([
  ...INBOX_ANSWERS.map((answer) => [answer, answer] as const),
  ["ack", "acknowledge"],
  ["seen", "acknowledge"],
]);

/** As commands take them. */
export const ANSWER_WORDS: readonly string[] = [...MEANT.keys()].filter((word) => word !== "acknowledge");

/** Single keys of `inbox next`. What takes something away has none: it is written out. */
const KEYS: ReadonlyMap<string, InboxAnswer> = new Map([
  ["a", "approve"],
  ["d", "deny"],
  ["r", "reply"],
  ["i", "interrupt"],
  ["k", "acknowledge"],
  ["z", "snooze"],
]);

export function answerOf([word = "", ...rest]: readonly string[], now: number, takesKeys = false): GivenAnswer {
  const answer = MEANT.get(word.toLowerCase()) ?? (takesKeys ? KEYS.get(word.toLowerCase()) : undefined);
  if (answer === undefined)
    throw usage(
      "unknown-answer",
      `"${word}" is no answer; ${didYouMean(word, ANSWER_WORDS) ?? `use one of ${ANSWER_WORDS.join(", ")}`}.`,
    );
  const text = rest.join(" ").trim();
  if (answer === "snooze") return { answer, ...timeGiven("snooze", text, now) };
  return text === "" ? { answer } : { answer, text };
}

/** For the question of `inbox next`: "a (approve), d (deny), end, k (ack), z 30m (snooze)". */
export function keysFor(answers: readonly InboxAnswer[]): string {
  const keyOf = (answer: InboxAnswer): string | undefined => [...KEYS].find(([, meant]) => meant === answer)?.[0];
  return answers
    .map((answer) => {
      const key = keyOf(answer);
      const word = answer === "acknowledge" ? "ack" : answer;
      const takes = answer === "snooze" ? " 30m" : answer === "reply" || answer === "interrupt" ? " TEXT" : "";
      return key === undefined ? word : `${key}${takes} (${word})`;
    })
    .join(", ");
}
