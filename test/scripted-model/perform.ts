// Carries out one plan on one reply: waits, fails, hangs, drops the line or answers.

import { existsSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import type { Asked } from "./conversation.ts";
import type { Dialect, Headers, Refusal } from "./dialect.ts";
import type { Plan } from "./plan.ts";
import type { Entry } from "./record.ts";

/** What is needed of an HTTP response, so that a websocket can be one. */
export interface Reply {
  readonly headersSent: boolean;
  setHeader(name: string, value: string): unknown;
  writeHead(status: number, headers: Headers): Reply;
  write(text: string, done?: () => void): unknown;
  end(text: string): unknown;
  once(event: "finish" | "close", listener: () => void): unknown;
  /** Drops the connection. */
  destroy(): unknown;
}

export interface Stage {
  readonly response: Reply;
  readonly dialect: Dialect;
  readonly asked: Asked;
  readonly entry: Entry;
  /** Aborted when the client is gone. */
  readonly gone: AbortSignal;
  /** Counts one failure of this request; true while there are failures left to give. */
  readonly mayFail: (step: number, times: number) => boolean;
  /** When the limit that this request began, or had begun, resets; undefined once that is over. */
  readonly limitOf: (directive: { readonly ms: number; readonly once: boolean }) => number | undefined;
  /** When the limit of the whole account resets, if one is in force. */
  readonly accountLimit: number | undefined;
}

/** Rejects when the client goes away. */
export async function perform(plan: Plan, stage: Stage): Promise<void> {
  const { response, entry, gone, dialect, asked } = stage;
  if (stage.accountLimit !== undefined)
    return refuse(stage, { error: "limit", resetsAt: stage.accountLimit, model: asked.model });
  for (const [step, before] of plan.before.entries()) {
    switch (before.kind) {
      case "delay":
        await sleep(before.ms, undefined, { signal: gone });
        break;
      case "until":
        while (!existsSync(before.file)) await sleep(LOOK_MS, undefined, { signal: gone });
        break;
      case "status":
        if (!stage.mayFail(step, before.times)) break;
        entry.end("failed");
        if (plan.retryAfterSeconds !== undefined) response.setHeader("retry-after", String(plan.retryAfterSeconds));
        sendJson(response, before.status, dialect.error(before.status, `Scripted status ${before.status}`));
        return;
      case "limit": {
        const resetsAt = stage.limitOf(before);
        if (resetsAt === undefined) break;
        return refuse(stage, { error: "limit", resetsAt, model: asked.model });
      }
      case "error":
        if (!stage.mayFail(step, before.times)) break;
        return refuse(stage, { error: before.error, model: asked.model });
      case "hang":
        entry.end("hung");
        return;
      case "disconnect":
        entry.end("disconnected");
        response.destroy();
        return;
    }
  }
  if (plan.usedPercent !== undefined) setHeaders(response, dialect.used(plan.usedPercent, Date.now() + USED_WINDOW_MS));
  if (stage.asked.stream) await stream(plan, stage);
  else if (plan.midway === undefined) answerWhole(plan, stage);
  else breakOff(plan.midway, stage, JSON.stringify(dialect.whole(plan.answer, stage.asked)).slice(0, 40));
}

/** How often `[[until /a/file]]` looks. */
const LOOK_MS = 20;

/** When the limit of `[[used 83]]` resets: far enough not to happen in a test. */
const USED_WINDOW_MS = 3_600_000;

function refuse({ dialect, response, entry, asked }: Stage, refusal: Refusal): void {
  const { status, headers = {}, body, events } = dialect.refuse(refusal);
  entry.end("failed");
  setHeaders(response, headers);
  if (events === undefined || !asked.stream) return sendJson(response, status, body);
  response.writeHead(status, { "content-type": "text/event-stream", "cache-control": "no-cache" }).end(events);
}

function setHeaders(response: Reply, headers: Headers): void {
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
}

export function sendJson(response: Reply, status: number, body: unknown): void {
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
}

function answerWhole(plan: Plan, stage: Stage): void {
  stage.response.once("finish", () => stage.entry.end("answered"));
  sendJson(stage.response, 200, stage.dialect.whole(plan.answer, stage.asked));
}

async function stream(plan: Plan, stage: Stage): Promise<void> {
  const { response, gone } = stage;
  const speech = stage.dialect.speak(plan.answer, stage.asked);
  const [first = "", ...others] = cut(
    plan.answer.text,
    plan.midway === undefined ? plan.pieces : Math.max(2, plan.pieces),
  );
  response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-cache" });
  const start = speech.open() + (first === "" ? "" : speech.text(first));
  if (plan.midway !== undefined) return breakOff(plan.midway, stage, start);
  if (start !== "") response.write(start);
  for (const piece of others) {
    await sleep(plan.pauseMs, undefined, { signal: gone });
    response.write(speech.text(piece));
  }
  response.once("finish", () => stage.entry.end("answered"));
  response.end(speech.close());
}

/** Sends the beginning, and then nothing more or the end of the line. */
function breakOff(how: "hang" | "disconnect", stage: Stage, start: string): void {
  const { response, entry } = stage;
  if (!response.headersSent) response.writeHead(200, { "content-type": "application/json" });
  if (how === "hang") {
    response.write(start);
    entry.end("hung");
    return;
  }
  response.write(start, () => {
    entry.end("disconnected");
    response.destroy();
  });
}

function cut(text: string, pieces: number): readonly string[] {
  const characters = Array.from(text);
  const size = Math.max(1, Math.ceil(characters.length / pieces));
  return Array.from({ length: Math.ceil(characters.length / size) }, (_, index) =>
    characters.slice(index * size, (index + 1) * size).join(""),
  );
}
