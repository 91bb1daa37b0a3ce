/**
 * What an agent said in one turn: the part of `reeve data` between the prompt that began it and the next one. Where
 * there is no transcript it is the screen, as there.
 */
import type { Client } from "../../client/create-client.ts";
import type { OutputOf } from "../../client/operation-types.ts";
import { systemClock } from "../../platform/clock.ts";
import type { MessageView } from "./transcript-text.ts";

type Data = OutputOf<"getSessionData">;
export type Reply = Pick<Data, "source" | "messages" | "text" | "truncated" | "note">;

/** What began the turn. Where its text is not found as it was sent (agents alter some), the last prompt since counts. */
export interface Prompt {
  readonly text: string | null;
  /** When it was sent: an earlier one with the same text is not it. */
  readonly since: string | null;
}

/** Agents write down what was said shortly after they tell that the turn is over (claude 2.1.325: 100 ms, on an idle machine). */
export const WRITTEN_WITHIN_MS = 3_000;
export const LOOK_AGAIN_MS = 50;

/** `isCompleted`: only then is there an answer to wait for; of a turn that failed, the last word may be that it did. */
export async function replyTo(client: Client, session: string, prompt: Prompt, isCompleted: boolean): Promise<Reply> {
  const endsAt = systemClock.monotonic() + WRITTEN_WITHIN_MS;
  for (;;) {
    const { source, messages, text, truncated, note } = await client.getSessionData({ session });
    if (messages === undefined) return { source, ...(text === undefined ? {} : { text }), truncated, note };
    const isLast = systemClock.monotonic() > endsAt;
    const begin = beginOf(messages, prompt, isLast);
    const said = begin === null ? [] : saidFrom(messages, begin);
    if (isWhole(said, isCompleted) || isLast)
      return { source, messages: said, truncated: truncated && begin === 0, note };
    await systemClock.sleep(LOOK_AGAIN_MS);
  }
}

/** The prompt of the turn that asks now; null where there is no transcript to tell. */
export async function openPrompt(client: Client, session: string): Promise<Prompt> {
  const { messages } = await client.getSessionData({ session });
  return { text: messages?.findLast(isPrompt)?.text ?? null, since: null };
}

/** Where what was said begins; null: not written down (yet). */
export function beginOf(messages: readonly MessageView[], { text, since }: Prompt, isLast: boolean): number | null {
  const isSince = ({ at }: MessageView): boolean =>
    since === null || at === null || Date.parse(at) >= Date.parse(since);
  const sent = messages.findLastIndex(
    (message) => isPrompt(message) && isSince(message) && text !== null && plain(message.text) === plain(text),
  );
  if (sent >= 0) return sent + 1;
  if (text !== null && !isLast) return null;
  const last = messages.findLastIndex((message) => isPrompt(message) && isSince(message));
  if (last >= 0) return last + 1;
  // A turn so long that its prompt was cut off.
  return messages.some(isPrompt) ? null : 0;
}

/** Up to the next prompt. */
export function saidFrom(messages: readonly MessageView[], begin: number): MessageView[] {
  const after = messages.slice(begin);
  const next = after.findIndex(isPrompt);
  return next < 0 ? after : after.slice(0, next);
}

function isPrompt({ role }: MessageView): boolean {
  return role === "user";
}

function plain(text: string): string {
  return text.replace(/\s+/g, " ").trim();
}

function isWhole(said: readonly MessageView[], isCompleted: boolean): boolean {
  const last = said.at(-1);
  if (last?.role === "system" && !isCompleted) return true;
  return last?.role === "assistant" && last.text.trim() !== "";
}
