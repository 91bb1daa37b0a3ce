// Keeps what was asked, newest last and bounded, and lets a test wait for it. Headers are never kept.

import type { Answer, Api, Asked, Message, ToolCall } from "./conversation.ts";

export type Outcome = "answered" | "hung" | "failed" | "disconnected" | "aborted";

export interface RecordedRequest {
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly api: Api;
  readonly path: string;
  /** What stands before the API's own path, such as `/s/abc`. Empty without one. */
  readonly prefix: string;
  readonly model: string;
  /** Made by the agent for itself: a title, a classification, a summary, a probe. */
  readonly hidden: boolean;
  readonly prompt: string;
  readonly messages: readonly Message[];
  /** Every text that the person typed, in the order of the conversation. */
  readonly typed: readonly string[];
  /** The names of the tools that the model may call. */
  readonly offered: readonly string[];
  /** What the tools answered that were called since the prompt. */
  readonly results: readonly string[];
  /** What the model is about to say and to call; of errors and hangs too. */
  readonly says: string;
  readonly calls: readonly ToolCall[];
  /** Absent while the request is under way. `aborted`: the client went away first. */
  readonly outcome?: Outcome;
  /** When the connection was done with it. A request that hangs has none until its client gives up. */
  readonly finishedAt?: number;
}

export interface RequestFilter {
  readonly prefix?: string;
  readonly hidden?: boolean;
}

export type Match = (request: RecordedRequest) => boolean;

export interface Records {
  begin(
    where: { readonly api: Api; readonly path: string; readonly prefix: string },
    asked: Asked,
    answer?: Answer,
  ): Entry;
  list(filter?: RequestFilter): readonly RecordedRequest[];
  /** Resolves with the first record that matches, now or after a change. */
  waitFor(match: Match, timeoutMs: number): Promise<RecordedRequest>;
}

export interface Entry {
  /** Only the first outcome counts. */
  end(outcome: Outcome): void;
  /** The connection is gone. */
  close(): void;
}

/** Each record holds its whole conversation, some 50 KB with a real agent. */
const limit = 1000;

export function createRecords(): Records {
  const records: RecordedRequest[] = [];
  const listeners = new Set<() => void>();
  const changed = (): void => listeners.forEach((listener) => listener());
  return {
    begin: (where, asked, answer) => {
      let current: RecordedRequest = {
        at: Date.now(),
        ...where,
        model: asked.model,
        hidden: asked.hidden,
        prompt: asked.prompt,
        messages: asked.messages,
        typed: asked.typed,
        offered: asked.offered,
        results: asked.results,
        says: answer?.text ?? "",
        calls: answer?.calls ?? [],
      };
      const update = (next: RecordedRequest): void => {
        const index = records.indexOf(current);
        current = next;
        if (index >= 0) records[index] = current;
        changed();
      };
      records.push(current);
      if (records.length > limit) records.shift();
      changed();
      return {
        end: (outcome) => {
          if (current.outcome !== undefined) return;
          const finished = outcome === "hung" ? {} : { finishedAt: Date.now() };
          update({ ...current, outcome, ...finished });
        },
        close: () => {
          if (current.finishedAt === undefined) update({ outcome: "aborted", ...current, finishedAt: Date.now() });
        },
      };
    },
    list: (filter = {}) =>
      records.filter(
        (record) =>
          (filter.prefix === undefined || record.prefix === filter.prefix) &&
          (filter.hidden === undefined || record.hidden === filter.hidden),
      ),
    waitFor: (match, timeoutMs) => {
      const { promise, resolve, reject } = Promise.withResolvers<RecordedRequest>();
      const look = (): void => {
        const found = records.find(match);
        if (found !== undefined) resolve(found);
      };
      const timer = setTimeout(() => reject(new Error(`no such request within ${timeoutMs} ms`)), timeoutMs);
      listeners.add(look);
      look();
      return promise.finally(() => {
        clearTimeout(timer);
        listeners.delete(look);
      });
    },
  };
}
