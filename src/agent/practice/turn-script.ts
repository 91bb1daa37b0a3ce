/** What the practice agent does with a prompt, chosen by the prompt's first word. */
import { summaryOf } from "./fit-text.ts";

export type TurnScript =
  | { readonly type: "reply"; readonly lines: readonly string[] }
  | { readonly type: "ask"; readonly commands: readonly string[] }
  | { readonly type: "sleep"; readonly ms: number; readonly lines: readonly string[] }
  | { readonly type: "spam"; readonly count: number }
  | { readonly type: "fail"; readonly error: string }
  | { readonly type: "crash" }
  | { readonly type: "quit" };

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
      return { type: "fail", error: rest === "" ? "The practice model was told to fail." : rest };
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
