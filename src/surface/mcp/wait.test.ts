import { describe, expect, it } from "vitest";
import type { Backend, Fields } from "./backend.ts";
import { waitFor } from "./wait.ts";

/** Answers every question at once, and keeps it. */
function attentive(): { readonly backend: Backend; readonly questions: Fields[] } {
  const questions: Fields[] = [];
  const backend: Backend = {
    isSession: false,
    call: async (_verb, input) => {
      questions.push(input);
      return { value: {}, text: "{}" };
    },
    unreadMail: () => null,
    surroundings: async () => ({}),
    follow: async function* () {},
    note: () => undefined,
  };
  return { backend, questions };
}

const { signal } = new AbortController();
const tell = async (): Promise<void> => undefined;

describe("waitFor", () => {
  it.each([
    [undefined, null, 45],
    [10, null, 10],
    [3_600, null, 45],
    [undefined, tell, 240],
    [100, tell, 100],
    [3_600, tell, 240],
    [0, null, 0],
  ])("asked for %s s, with progress %s, waits %s s at most", async (asked, progress, seconds) => {
    const { backend, questions } = attentive();
    await waitFor(
      backend,
      { session: "w", ...(asked === undefined ? {} : { timeout_seconds: asked }) },
      signal,
      progress,
    );
    expect(questions).toEqual([{ session: "w", timeout_seconds: seconds }]);
  });
});
