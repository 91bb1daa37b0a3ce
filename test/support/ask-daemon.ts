/** Asks the daemon over its socket, once: a dead one is not started, and no process is spent on the question. */
import { request } from "node:http";
import type { SessionRow, TestHome } from "./test-home.ts";

/** The answer, or null when nobody gave one. With a body it is a POST, with a key one that may be repeated. */
export function askDaemon<T>(
  home: Pick<TestHome, "socketPath">,
  path: string,
  body?: object,
  key?: string,
  signal?: AbortSignal,
): Promise<T | null> {
  return ask(home.socketPath, path, body, key === undefined ? {} : { "idempotency-key": key }, signal);
}

/** As whoever has this pass would: over the socket for sessions. */
export function askWithPass<T>(home: TestHome, pass: string | null, path: string, body?: object): Promise<T | null> {
  const socketPath = home.socketPath.replace(/reeve\.sock$/, "call.sock");
  return ask(socketPath, path, body, pass === null ? {} : { authorization: `Bearer ${pass}` });
}

function ask<T>(
  socketPath: string,
  path: string,
  body: object | undefined,
  headers: Readonly<Record<string, string>>,
  signal?: AbortSignal,
): Promise<T | null> {
  return new Promise((resolve) => {
    const asked = request({
      // Nothing stays open afterwards: tests count the daemon's connections.
      agent: false,
      socketPath,
      path,
      method: body === undefined ? "GET" : "POST",
      headers: {
        host: "localhost",
        "content-type": "application/json",
        ...headers,
      },
      ...(signal === undefined ? {} : { signal }),
    });
    asked.once("error", () => resolve(null));
    asked.once("response", (response) => {
      let text = "";
      response.setEncoding("utf8").on("data", (part: string) => (text += part));
      response.once("error", () => resolve(null));
      response.once("end", () => resolve(JSON.parse(text) as T));
    });
    asked.end(body === undefined ? undefined : JSON.stringify(body));
  });
}

/** One session as it is now; null while there is no daemon. */
export async function askSession(home: TestHome, name: string): Promise<SessionRow | null> {
  const answer = await askDaemon<{ sessions: SessionRow[] }>(home, "/v1/sessions?all=true");
  return answer?.sessions.find((session) => session.name === name) ?? null;
}
