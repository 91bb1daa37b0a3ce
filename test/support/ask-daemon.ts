/** Asks the daemon over its socket, once: a dead one is not started, and no process is spent on the question. */
import { request } from "node:http";
import type { SessionRow, TestHome } from "./test-home.ts";

/** The answer, or null when nobody gave one. With a body it is a POST, with a key one that may be repeated. */
export function askDaemon<T>(home: TestHome, path: string, body?: object, key?: string): Promise<T | null> {
  return new Promise((resolve) => {
    const asked = request({
      socketPath: home.socketPath,
      path,
      method: body === undefined ? "GET" : "POST",
      headers: {
        host: "localhost",
        "content-type": "application/json",
        ...(key === undefined ? {} : { "idempotency-key": key }),
      },
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
