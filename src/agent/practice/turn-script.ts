/** What the practice agent does with a prompt, chosen by the prompt's first word. */
import { FAILURES, type FailureKind } from "../../session/failure.ts";
import { summaryOf } from "./fit-text.ts";

export type TurnScript =
  | { readonly type: "reply"; readonly lines: readonly string[] }
  | { readonly type: "ask"; readonly commands: readonly string[] }
  | { readonly type: "sleep"; readonly ms: number; readonly lines: readonly string[] }
  | { readonly type: "spam"; readonly count: number }
  | { readonly type: "fail"; readonly error: string; readonly failure: FailureKind }
  /** isSaid false: it resets then, but does not say so. */
  | { readonly type: "limit"; readonly limit: string; readonly resetsInMs: number; readonly isSaid: boolean }
  | { readonly type: "used"; readonly percent: number; readonly lines: readonly string[] }
  | { readonly type: "crash" }
  | { readonly type: "quit" };

/** One line of a narrow terminal; `limit SECONDS`, `used PERCENT` and `fail KIND WHY` rehearse a vendor's limits. */
export const SCRIPT_HELP =
  "Words it knows: ask WHAT, ask-both ONE | TWO, sleep SECONDS, spam LINES, fail WHY, crash, quit.";

const LONGEST_SLEEP_S = 86_400;
const MOST_SPAM = 100_000;

export function scriptOf(prompt: string): TurnScript {
  const text = prompt.trim();
  const [, word = "", rest = ""] = /^(\S+)\s*([^]*)$/.exec(text) ?? [];
  switch (word.toLowerCase()) {
    case "quit":
    case "/quit":
      return rest === "" ? { type: "quit" } : replyTo(text);
    case "crash":
      return { type: "crash" };
    case "ask":
      return { type: "ask", commands: [rest === "" ? "echo hello" : rest] };
    case "ask-both": {
      const commands = rest.split("|").map((command) => command.trim());
      return commands.length === 2 && !commands.includes("") ? { type: "ask", commands } : replyTo(text);
    }
    case "fail":
      return failureOf(rest);
    case "limit":
      return limitOf(rest) ?? replyTo(text);
    case "used": {
      const percent = leadingNumber(rest);
      if (percent === null || percent > 100) return replyTo(text);
      return { type: "used", percent, lines: [`${percent} % of the practice limit is used.`] };
    }
    case "sleep": {
      const seconds = leadingNumber(rest);
      if (seconds === null) return replyTo(text);
      const ms = Math.min(seconds, LONGEST_SLEEP_S) * 1000;
      return { type: "sleep", ms, lines: [`Slept ${ms / 1000} s.`] };
    }
    case "spam": {
      const count = leadingNumber(rest);
      return count === null ? replyTo(text) : { type: "spam", count: Math.min(Math.floor(count), MOST_SPAM) };
    }
    default:
      return replyTo(text);
  }
}

/** `fail rate-limit WHY` names the kind; any other `fail WHY` is of no known kind. */
function failureOf(rest: string): TurnScript {
  const [, word = "", why = ""] = /^(\S+)\s*([^]*)$/.exec(rest) ?? [];
  const isNamed = isTurnFailure(word);
  const error = isNamed ? why : rest;
  return {
    type: "fail",
    error: error === "" ? "The practice model was told to fail." : error,
    failure: isNamed ? word : "unknown",
  };
}

function isTurnFailure(word: string): word is FailureKind {
  return Object.hasOwn(FAILURES, word) && FAILURES[word as FailureKind].scope === "turn";
}

/** `limit 20s …`, `limit 20s of tokens …`, `limit 20s unsaid …`: what follows is only talked about. */
function limitOf(rest: string): TurnScript | null {
  const match = /^(\d{1,6}(?:\.\d{1,3})?)s?(?:\s+of\s+([\w-]{1,40}))?(\s+unsaid)?(?=\s|$)/.exec(rest);
  if (match === null) return null;
  const [, seconds = "0", limit = "requests", unsaid] = match;
  return { type: "limit", limit, resetsInMs: Number(seconds) * 1000, isSaid: unsaid === undefined };
}

function replyTo(text: string): TurnScript {
  const firstWords = text.slice(0, 1000).split(/\s+/).slice(0, 8).join(" ");
  return {
    type: "reply",
    lines: [
      `You said: "${summaryOf(firstWords, 80)}".`,
      "I thought about it.",
      "Nothing was changed: this is only practice.",
    ],
  };
}

function leadingNumber(text: string): number | null {
  const match = /^\d{1,9}(?:\.\d{1,3})?(?=\s|$)/.exec(text);
  return match === null ? null : Number(match[0]);
}
