/**
 * wait_for_session as MCP offers it. Clients give up on a call after a minute
 * or more, and what they gave up on is lost to the model. So a wait is short,
 * unless the client shows progress: then it may be longer, and says every few
 * seconds what the sessions do.
 */
import type { Answer, Backend, Fields } from "./backend.ts";

/** Codex gives up after 300 s and Gemini after 600 s, but other clients after 60 s. */
const LONGEST_SECONDS = 45;
const LONGEST_WITH_PROGRESS_SECONDS = 240;
/** Some clients take 30 s of silence for the end. */
const PROGRESS_EVERY_MS = 10_000;

export type TellProgress = (progress: number, total: number, message: string) => Promise<void>;

export async function waitFor(
  backend: Backend,
  input: Fields,
  signal: AbortSignal,
  tell: TellProgress | null,
): Promise<Answer> {
  const longest = tell === null ? LONGEST_SECONDS : LONGEST_WITH_PROGRESS_SECONDS;
  const { timeout_seconds: asked } = input;
  // What is no number is refused by the door.
  const seconds = typeof asked === "number" ? Math.min(asked, longest) : (asked ?? longest);
  const question = { ...input, timeout_seconds: seconds };
  if (tell === null) return await backend.call("waitForSession", question, signal);
  const over = new AbortController();
  const stop = (): void => over.abort();
  signal.addEventListener("abort", stop, { once: true });
  const telling = keepTelling(backend, input, Number(seconds), over.signal, tell);
  try {
    return await backend.call("waitForSession", question, signal);
  } finally {
    stop();
    signal.removeEventListener("abort", stop);
    await telling;
  }
}

async function keepTelling(
  backend: Backend,
  input: Fields,
  seconds: number,
  signal: AbortSignal,
  tell: TellProgress,
): Promise<void> {
  const startedAt = performance.now();
  while (!(await isOverWithin(PROGRESS_EVERY_MS, signal))) {
    try {
      const passed = Math.round((performance.now() - startedAt) / 1_000);
      await tell(passed, seconds, await whatTheyDo(backend, input, signal));
    } catch {
      // Progress is for whoever looks; the wait itself says what is wrong.
    }
  }
}

function isOverWithin(milliseconds: number, signal: AbortSignal): Promise<boolean> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve(true);
    const done = (): void => {
      clearTimeout(timer);
      signal.removeEventListener("abort", done);
      resolve(signal.aborted);
    };
    const timer = setTimeout(done, milliseconds);
    signal.addEventListener("abort", done, { once: true });
  });
}

/** More would not be read. */
const MOST_SHOWN = 5;

async function whatTheyDo(backend: Backend, input: Fields, signal: AbortSignal): Promise<string> {
  const { session, also } = input;
  const names = [...(session === undefined ? [] : [session]), ...(Array.isArray(also) ? (also as unknown[]) : [])];
  // Who is meant is decided when the wait begins; the answer tells.
  if (names.length === 0) return "waiting";
  const shown = await Promise.all(
    names.slice(0, MOST_SHOWN).map(async (name) => {
      const { value } = await backend.call("getSession", { session: name }, signal);
      return `${String(value["name"])}: ${String(value["activity"])}`;
    }),
  );
  return names.length > MOST_SHOWN ? `${shown.join(", ")}, and ${names.length - MOST_SHOWN} more` : shown.join(", ");
}
