/**
 * The index, as the daemon reaches it: in a process of its own, because a commit
 * or a search of a large index takes longer than the daemon may be held up
 * (decision 56). It is started when something is asked of it, and ends when
 * nothing was for a while, and then all its memory is given back: an idle daemon
 * does not pay for it. It ends with the daemon, too.
 */
import { type ChildProcess, fork } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
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
/** It holds one batch and one answer at a time. Nothing else that the daemon was started with concerns it. */
const NODE_FLAGS = ["--disable-warning=ExperimentalWarning", "--max-old-space-size=192"];

interface Running {
  readonly child: ChildProcess;
  readonly waiting: Map<number, { resolve(value: unknown): void; reject(error: unknown): void }>;
  ask(question: Question): void;
}

export function createIndexProcess(path: string, clock: Pick<Clock, "after">): SearchIndex {
  let running: Running | null = null;
  let last = 0;
  let stopIdle = (): void => undefined;

  function start(): Running {
    // Here, so that the daemon tells of what is moved aside.
    for (const file of filesOf(path)) clearTheWay(file);
    const waiting: Running["waiting"] = new Map();
    const child = fork(programPath(), [path], {
      execArgv: NODE_FLAGS,
      serialization: "advanced",
      // What it says at its death is not what the daemon died of.
      stdio: ["ignore", "ignore", "ignore", "ipc"],
    });
    const fail = (why: string): void => {
      if (running?.child === child) running = null;
      for (const { reject } of waiting.values()) reject(unavailable(why));
      waiting.clear();
    };
    child.on("message", (answer: Answer) => {
      const asked = waiting.get(answer.id);
      waiting.delete(answer.id);
      if (waiting.size === 0) rest();
      if ("error" in answer) asked?.reject(errorOf(answer.error));
      else asked?.resolve(answer.value);
    });
    child.on("error", (error) => fail(messageOf(error)));
    child.on("exit", () => fail("its process has ended"));
    child.unref();
    child.channel?.unref();
    const ask = (question: Question): void =>
      void child.send(question, (error) => (error === null ? undefined : fail(messageOf(error))));
    return { child, waiting, ask };
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
    // One that could not be started never exits.
    const ended = new Promise((resolve) => void ending.child.once("exit", resolve).once("error", resolve));
    ending.ask({ id: 0, name: "close", given: [] });
    await ended;
  }

  async function ask(name: keyof IndexWork, given: readonly unknown[]): Promise<unknown> {
    stopIdle();
    const asked = (running ??= starting());
    last += 1;
    const id = last;
    return await new Promise((resolve, reject) => {
      asked.waiting.set(id, { resolve, reject });
      asked.ask({ id, name, given });
    });
  }

  function starting(): Running {
    try {
      return start();
    } catch (error) {
      throw unavailable(messageOf(error));
    }
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
