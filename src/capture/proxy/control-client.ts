/** Speaks to the capture proxy over its control socket; see contract.ts. */
import { connect, type Socket } from "node:net";
import { createInterface } from "node:readline";
import { parseFields } from "../../platform/json-fields.ts";
import type { Answer, Observation, ProxyStatus, Route, Told } from "./contract.ts";

export interface ProxyControl {
  /** Each resolves with the proxy's status after it, and rejects with what the proxy has against it. */
  register(route: Route): Promise<ProxyStatus>;
  unregister(key: string): Promise<ProxyStatus>;
  status(): Promise<ProxyStatus>;
  stop(): Promise<ProxyStatus>;
  /** Resolves when the connection is gone, for whatever reason: then start or connect again, and register again. */
  readonly closed: Promise<void>;
  close(): void;
}

type Unnumbered =
  | { readonly command: "register"; readonly route: Route }
  | { readonly command: "unregister"; readonly key: string }
  | { readonly command: "status" | "stop" };

export class ProxyRefusal extends Error {
  readonly code: string;
  constructor(code: string, message: string) {
    super(message);
    this.name = "ProxyRefusal";
    this.code = code;
  }
}

/** Rejects when nobody listens there (ENOENT, ECONNREFUSED). */
export async function connectControl(path: string, observe: (observation: Observation) => void): Promise<ProxyControl> {
  const socket = await connected(path);
  const waiting = new Map<number, { resolve(status: ProxyStatus): void; reject(error: Error): void }>();
  let last = 0;

  const lines = createInterface({ input: socket });
  // It passes on what happens to the socket (ECONNRESET where the proxy was killed); `closed` tells of that.
  lines.on("error", () => undefined);
  lines.on("line", (line) => {
    // The last line of one that was killed may be cut.
    const told = parseFields(line) as Told | null;
    if (told === null) return;
    if (!("id" in told)) return observe(told);
    settle(told);
  });

  function settle(answer: Answer): void {
    const asked = waiting.get(answer.id);
    waiting.delete(answer.id);
    if (answer.ok) asked?.resolve(answer.status);
    else asked?.reject(new ProxyRefusal(answer.error.code, answer.error.message));
  }

  const closed = new Promise<void>((resolve) => {
    socket.on("error", () => undefined);
    socket.once("close", () => {
      for (const { reject } of waiting.values())
        reject(new ProxyRefusal("proxy-gone", "The capture proxy closed the connection."));
      waiting.clear();
      resolve();
    });
  });

  const ask = (command: Unnumbered): Promise<ProxyStatus> =>
    new Promise((resolve, reject) => {
      if (socket.destroyed) return reject(new ProxyRefusal("proxy-gone", "The capture proxy is gone."));
      const id = (last += 1);
      waiting.set(id, { resolve, reject });
      socket.write(`${JSON.stringify({ id, ...command })}\n`);
    });

  return {
    register: (route) => ask({ command: "register", route }),
    unregister: (key) => ask({ command: "unregister", key }),
    status: () => ask({ command: "status" }),
    stop: () => ask({ command: "stop" }),
    closed,
    close: () => void socket.destroy(),
  };
}

function connected(path: string): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect(path);
    socket.once("error", reject);
    socket.once("connect", () => {
      socket.off("error", reject);
      resolve(socket);
    });
  });
}
