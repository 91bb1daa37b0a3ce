/** The thread that keeps the index: it does one thing after the other, and answers each under the number it was asked by. */
import { parentPort, workerData } from "node:worker_threads";
import { ReeveError } from "../platform/reeve-error.ts";
import { createIndexWork } from "./index-work.ts";
import type { Answer, Question } from "./index-thread.ts";

const port = parentPort;
const work = createIndexWork(workerData as string);

port?.on("message", ({ id, name, given }: Question) => {
  if (name === "close") {
    work.close();
    port.close();
    return;
  }
  port.postMessage(answer(id, () => (work[name] as (...given: unknown[]) => unknown)(...given)));
});

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
