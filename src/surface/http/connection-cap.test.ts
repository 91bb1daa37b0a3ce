/** Whom the daemon serves when there are too few descriptors for all. */
import { mkdtempSync, rmSync } from "node:fs";
import { createServer, type ServerResponse } from "node:http";
import { connect, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { ReeveError } from "../../platform/reeve-error.ts";
import { capConnections } from "./connection-cap.ts";

/** Descriptors as the server is told: so many, with as many in use as there are callers and a few more. */
const LIMIT = 48;
const OTHERS = 28;
let dir: string;
let close: () => void;
let held: ServerResponse[];
let callers: Socket[];
let open: Set<Socket>;

beforeEach(async () => {
  dir = mkdtempSync(join(tmpdir(), "reeve-"));
  held = [];
  callers = [];
  open = new Set();
  const server = createServer();
  const cap = capConnections(server, { limit: () => LIMIT, inUse: () => OTHERS + open.size });
  server.on("connection", (socket) => {
    open.add(socket);
    socket.on("close", () => open.delete(socket));
  });
  server.on("request", (request, response) => {
    try {
      cap.admit(request);
      if (request.url === "/wait") held.push(response);
      else response.end("here");
    } catch (error) {
      response.writeHead(error instanceof ReeveError ? error.httpStatus : 500).end();
    }
  });
  close = () => void server.close();
  await new Promise<void>((resolve) => server.listen(join(dir, "socket"), resolve));
});
afterEach(() => {
  for (const socket of callers) socket.destroy();
  close();
  rmSync(dir, { recursive: true });
});

/** What the caller got until it was hung up, or until the first whole answer. */
function say(words: string): { readonly answer: Promise<string>; readonly connected: Promise<void> } {
  const socket = connect(join(dir, "socket"));
  callers.push(socket);
  let heard = "";
  const answer = new Promise<string>((resolve) => {
    socket.on("data", (bytes) => {
      heard += String(bytes);
      if (heard.includes("\r\n\r\n")) resolve(heard.split("\r\n", 1)[0] ?? "");
    });
    socket.on("error", () => resolve("cut"));
    socket.on("close", () => resolve(heard === "" ? "cut" : heard));
  });
  const connected = new Promise<void>((resolve) => socket.once("connect", () => socket.write(words, () => resolve())));
  return { answer, connected };
}

const asking = (path: string): string => `GET ${path} HTTP/1.1\r\nhost: localhost\r\n\r\n`;

it("cuts the longest silent to make room, and answers whoever asks", async () => {
  const silent = Array.from({ length: 12 }, () => say("GET / HT"));
  for (const { connected } of silent) await connected;
  expect(await say(asking("/")).answer).toBe("HTTP/1.1 200 OK");
  const cut = await Promise.race([silent[0]?.answer, silent.at(-1)?.answer.then(() => "the newest was cut")]);
  expect(cut).toBe("cut");
});

it("never cuts a caller that waits for its answer, and tells the next to try again", async () => {
  const waiting = Array.from({ length: 9 }, () => say(asking("/wait")));
  for (const { connected } of waiting) await connected;
  while (held.length < 9) await new Promise((resolve) => setImmediate(resolve));
  expect(await say(asking("/")).answer).toBe("HTTP/1.1 503 Service Unavailable");
  for (const response of held) response.end("late");
  expect(await Promise.all(waiting.map(({ answer }) => answer))).toEqual(waiting.map(() => "HTTP/1.1 200 OK"));
  expect(await say(asking("/")).answer).toBe("HTTP/1.1 200 OK");
});
