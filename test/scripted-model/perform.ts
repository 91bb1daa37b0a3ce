// Carries out one plan on one HTTP response: waits, fails, hangs, drops the line or answers.

import type { ServerResponse } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import type { Asked } from "./conversation.ts";
import type { Dialect } from "./dialect.ts";
import type { Plan } from "./plan.ts";
import type { Entry } from "./record.ts";

export interface Stage {
  readonly response: ServerResponse;
  readonly dialect: Dialect;
  readonly asked: Asked;
  readonly entry: Entry;
  /** Aborted when the client is gone. */
  readonly gone: AbortSignal;
  /** Counts one failure of this request; true while there are failures left to give. */
  readonly mayFail: (step: number, times: number) => boolean;
}

/** Rejects when the client goes away. */
export async function perform(plan: Plan, stage: Stage): Promise<void> {
  const { response, entry, gone, dialect } = stage;
  for (const [step, before] of plan.before.entries()) {
    switch (before.kind) {
      case "delay":
        await sleep(before.ms, undefined, { signal: gone });
        break;
      case "status":
        if (!stage.mayFail(step, before.times)) break;
        entry.end("failed");
        if (plan.retryAfterSeconds !== undefined) response.setHeader("retry-after", String(plan.retryAfterSeconds));
        sendJson(response, before.status, dialect.error(before.status, `Scripted status ${before.status}`));
        return;
      case "hang":
        entry.end("hung");
        return;
      case "disconnect":
        entry.end("disconnected");
        response.destroy();
        return;
    }
  }
  if (stage.asked.stream) await stream(plan, stage);
  else if (plan.midway === undefined) answerWhole(plan, stage);
  else breakOff(plan.midway, stage, JSON.stringify(dialect.whole(plan.answer, stage.asked)).slice(0, 40));
}

export function sendJson(response: ServerResponse, status: number, body: unknown): void {
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
