/**
 * The index, as the daemon reaches it: in a thread of its own, because a commit
 * or a search of a large index takes longer than the daemon may be held up
 * (decision 56). The thread is started when something is asked of it, and ends
 * when nothing was for a while: an idle daemon does not pay for it.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Worker } from "node:worker_threads";
import type { Clock } from "../platform/clock.ts";
import { clearTheWay } from "../platform/own-file.ts";
import { type ErrorFields, messageOf, ReeveError } from "../platform/reeve-error.ts";
import type { IndexWork } from "./contract.ts";
import { filesOf } from "./index-file.ts";

export interface Question {
  readonly id: number;
  readonly name: keyof IndexWork;
  readonly given: readonly unknown[];
}

export type Answer =
  | { readonly id: number; readonly value: unknown }
  | { readonly id: number; readonly error: Pick<ErrorFields, "code" | "kind" | "message"> };

type Asked<Work> = Work extends (...given: infer Given) => infer Result ? (...given: Given) => Promise<Result> : never;

export type SearchIndex = { readonly [Name in keyof IndexWork]: Asked<IndexWork[Name]> };

/** Long enough that a fleet at work keeps it, and short enough that one at rest does not. */
const IDLE_MS = 10_000;
/** It holds one batch and one answer at a time. */
const MOST_HEAP_MB = 192;

interface Running {
  readonly worker: Worker;
  readonly waiting: Map<number, { resolve(value: unknown): void; reject(error: unknown): void }>;
}

export function createIndexThread(path: string, clock: Pick<Clock, "after">): SearchIndex {
  let running: Promise<Running> | null = null;
  let last = 0;
  /** Counts the threads: the end of an earlier one says nothing of this one. */
  let number = 0;
  let stopIdle = (): void => undefined;

  async function start(): Promise<Running> {
    // Loaded here: a start of the daemon does not wait for it.
    const threads = await import("node:worker_threads");
    // Here, so that the daemon tells of what is moved aside.
    for (const file of filesOf(path)) clearTheWay(file);
    number += 1;
    const own = number;
    const waiting: Running["waiting"] = new Map();
    const worker = new threads.Worker(programPath(), {
      workerData: path,
      resourceLimits: { maxOldGenerationSizeMb: MOST_HEAP_MB },
      // Nothing that the daemon was started with concerns it.
      execArgv: [],
    });
    const started = { worker, waiting };
    const fail = (why: string): void => {
      if (own === number) running = null;
      for (const { reject } of waiting.values()) reject(unavailable(why));
      waiting.clear();
    };
    worker.on("message", (answer: Answer) => {
      const asked = waiting.get(answer.id);
      waiting.delete(answer.id);
      if (waiting.size === 0) rest();
      if ("error" in answer) asked?.reject(errorOf(answer.error));
      else asked?.resolve(answer.value);
    });
    worker.on("error", (error) => fail(messageOf(error)));
    worker.on("exit", () => fail("its thread has ended"));
    worker.unref();
    return started;
  }

  function rest(): void {
    stopIdle();
    stopIdle = clock.after(IDLE_MS, () => void close());
  }

  async function close(): Promise<void> {
    stopIdle();
    const ending = running;
    running = null;
    if (ending === null) return;
    const { worker } = await ending;
    const ended = new Promise((resolve) => worker.once("exit", resolve));
    worker.postMessage({ id: 0, name: "close", given: [] } satisfies Question, []);
    await ended;
  }

  async function ask(name: keyof IndexWork, given: readonly unknown[]): Promise<unknown> {
    stopIdle();
    running ??= start();
    const { worker, waiting } = await running.catch((error: unknown) => {
      running = null;
      throw unavailable(messageOf(error));
    });
    last += 1;
    const id = last;
    return new Promise((resolve, reject) => {
      waiting.set(id, { resolve, reject });
      worker.postMessage({ id, name, given } satisfies Question, []);
    });
  }

  const asking =
    <Name extends keyof IndexWork>(name: Name) =>
    (...given: Parameters<IndexWork[Name]>) =>
      ask(name, given) as Promise<ReturnType<IndexWork[Name]>>;
  return {
    state: asking("state"),
    write: asking("write"),
    find: asking("find"),
    numbers: asking("numbers"),
    forget: asking("forget"),
    eventsIn: asking("eventsIn"),
    removeEvents: asking("removeEvents"),
    notePruned: asking("notePruned"),
    mailsIn: asking("mailsIn"),
    removeMails: asking("removeMails"),
    reset: asking("reset"),
    close,
  };
}

/** Bundled beside the daemon, or the source itself in development. */
function programPath(): string {
  const bundled = join(import.meta.dirname, "search-program.js");
  return existsSync(bundled) ? bundled : join(import.meta.dirname, "program.ts");
}

function errorOf(fields: Pick<ErrorFields, "code" | "kind" | "message">): ReeveError {
  return fields.code === "search-failed" ? unavailable(fields.message) : new ReeveError(fields);
}

function unavailable(why: string): ReeveError {
  return new ReeveError({
    code: "search-unavailable",
    kind: "unavailable",
    message: `The search index cannot be used (${why}); free some disk space or fix the permissions of search.db, and try again.`,
  });
}
