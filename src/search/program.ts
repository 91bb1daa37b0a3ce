/** The process that keeps the index: it does one thing after the other, and answers each under the number it was asked by. */
import { ReeveError } from "../platform/reeve-error.ts";
import { createIndexWork } from "./index-work.ts";
import type { Answer, Question } from "./index-process.ts";

const [path = ""] = process.argv.slice(2);
const work = createIndexWork(path);

process.on("message", ({ id, name, given }: Question) => {
  if (name === "close") {
    work.close();
    process.disconnect();
    return;
  }
  process.send?.(answer(id, () => (work[name] as (...given: unknown[]) => unknown)(...given)));
});
// Nobody is left who could ask.
process.on("disconnect", () => process.exit());

function answer(id: number, ask: () => unknown): Answer {
  try {
    return { id, value: ask() };
  } catch (error) {
    if (error instanceof ReeveError) {
      const { code, kind, message } = error;
      return { id, error: { code, kind, message } };
    }
    const message = error instanceof Error ? error.message : String(error);
    return { id, error: { code: "search-failed", kind: "unavailable", message } };
  }
}
