/**
 * JSON-RPC with Codex's app-server over its socket: calls with an answer,
 * notifications, and requests of the server's. If a request is not for Reeve to
 * answer, it sends no answer: the first answer of any client counts, and other
 * clients are attached.
 */
import { ReeveError } from "../../platform/reeve-error.ts";
import { type Fields, fieldsOf, isFields, parseFields, textOf } from "../../platform/json-fields.ts";

/** Resuming a long history takes about a second; an answer that takes this long will not come. */
const ANSWER_MS = 20_000;

export type RequestId = string | number;

export interface RpcEvents {
  /** `at`: when it was sent, in milliseconds since the epoch; null before that was told. */
  readonly onNotification: (method: string, params: Fields, at: number | null) => void;
  readonly onRequest: (method: string, params: Fields, id: RequestId) => void;
  readonly onClose: (why: string) => void;
}

export interface Rpc {
  /** Rejects with `details.sent === false` when the server said no, so nothing came of it. */
  call(method: string, params: Fields): Promise<Fields>;
  answer(id: RequestId, result: Fields): void;
  close(): void;
}

interface Waiting {
  readonly resolve: (result: Fields) => void;
  readonly reject: (error: Error) => void;
  readonly timer: NodeJS.Timeout;
  readonly method: string;
}

/** Connects and introduces itself. */
export async function connectRpc(socket: string, version: string, events: RpcEvents): Promise<Rpc> {
  const waiting = new Map<number, Waiting>();
  let calls = 0;
  const forget = (id: number): Waiting | undefined => {
    const found = waiting.get(id);
    waiting.delete(id);
    clearTimeout(found?.timer);
    return found;
  };
  // Loaded with the first connection: a daemon without a Codex session does without it.
  const { connectWebSocket } = await import("./websocket.ts");
  const link = await connectWebSocket(socket, {
    onMessage: (text) => {
      const message = parseFields(text);
      if (message === null) return;
      const { id, method, params, result, error, emittedAtMs } = message;
      if (typeof method === "string") {
        if (typeof id === "string" || typeof id === "number") events.onRequest(method, fieldsOf(params), id);
        else events.onNotification(method, fieldsOf(params), typeof emittedAtMs === "number" ? emittedAtMs : null);
      } else if (typeof id === "number") {
        const found = forget(id);
        if (isFields(error)) found?.reject(refused(found.method, error));
        else found?.resolve(fieldsOf(result));
      }
    },
    onClose: (why) => {
      for (const id of waiting.keys()) forget(id)?.reject(unanswered(`Codex's app-server is gone: ${why}.`));
      events.onClose(why);
    },
  });
  const call = (method: string, params: Fields): Promise<Fields> =>
    new Promise((resolve, reject) => {
      const id = (calls += 1);
      const timer = setTimeout(() => {
        forget(id)?.reject(unanswered(`Codex's app-server did not answer ${method} within ${ANSWER_MS / 1000} s.`));
      }, ANSWER_MS);
      waiting.set(id, { resolve, reject, timer, method });
      link.send(JSON.stringify({ id, method, params }));
    });
  try {
    await call("initialize", {
      clientInfo: { name: "reeve", title: "Reeve", version },
      capabilities: { experimentalApi: true, requestAttestation: false, optOutNotificationMethods: NOT_NEEDED },
    });
  } catch (error) {
    link.close();
    throw error;
  }
  link.send(JSON.stringify({ method: "initialized" }));
  return {
    call,
    answer: (id, result) => link.send(JSON.stringify({ id, result })),
    close: () => {
      for (const id of waiting.keys()) forget(id)?.reject(unanswered("The connection to Codex was closed."));
      link.close();
    },
  };
}

/** Sent many times a second while Codex answers, and of no use here. */
const NOT_NEEDED = [
  "item/agentMessage/delta",
  "item/plan/delta",
  "item/commandExecution/outputDelta",
  "item/fileChange/outputDelta",
  "item/reasoning/summaryTextDelta",
  "item/reasoning/textDelta",
  "turn/diff/updated",
] as const;

function refused(method: string, error: Fields): ReeveError {
  return new ReeveError({
    code: "agent-refused",
    kind: "conflict",
    message: `Codex refused ${method}: ${textOf(error["message"]) ?? "no reason given"}.`,
    details: { sent: false },
  });
}

function unanswered(message: string): ReeveError {
  return new ReeveError({ code: "agent-unanswered", kind: "unavailable", message });
}
