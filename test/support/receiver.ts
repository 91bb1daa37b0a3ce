/** A real receiver of notifications: an HTTP server on the loopback that keeps what it gets and answers as it is told to. */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export interface Received {
  readonly path: string;
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
  readonly json: Readonly<Record<string, unknown>>;
}

export type Answer = (response: ServerResponse, request: Received) => void;

export interface Receiver {
  readonly url: string;
  readonly received: readonly Received[];
  /** From now on. */
  answer(how: Answer): void;
  /** Connections are refused until it listens again, at the same address. */
  stop(): Promise<void>;
  listen(): Promise<void>;
}

export const takes: Answer = (response) => void response.writeHead(204).end();
export const refuses: Answer = (response) => void response.writeHead(500).end("no");
export const hangs: Answer = () => undefined;

/** It answers, and goes on answering until the other side goes away. */
export const endless: Answer = (response) => {
  response.writeHead(200);
  const pour = (): void => {
    while (!response.destroyed && response.write("x".repeat(65_536)));
    if (!response.destroyed) response.once("drain", pour);
  };
  pour();
};

export async function openReceiver(): Promise<Receiver> {
  const received: Received[] = [];
  let answer = takes;
  const server = createServer((request, response) => {
    let body = "";
    response.on("error", () => undefined);
    request.setEncoding("utf8").on("data", (text: string) => (body += text));
    request.on("end", () => {
      const isJson = request.headers["content-type"] === "application/json";
      const json = isJson ? (JSON.parse(body) as Received["json"]) : {};
      const one = { path: request.url ?? "", headers: request.headers, body, json };
      received.push(one);
      answer(response, one);
    });
  });
  let port = 0;
  const listen = async (): Promise<void> => {
    await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
    ({ port } = server.address() as AddressInfo);
  };
  await listen();
  return {
    url: `http://127.0.0.1:${port}`,
    received,
    answer: (how) => void (answer = how),
    listen,
    async stop() {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
}
