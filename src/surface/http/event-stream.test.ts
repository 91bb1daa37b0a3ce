import { getEventListeners } from "node:events";
import { createServer } from "node:http";
import type { Server, ServerResponse } from "node:http";
import { connect } from "node:net";
import type { Socket } from "node:net";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type DoorGround, makeDoorGround } from "../../operation/door-fixture.ts";
import { readEvents } from "../../operation/read-events.ts";
import { OPERATOR } from "../../session/caller.ts";
import { STARTED } from "../../store/store-fixture.ts";
import { sendStream } from "./event-stream.ts";

let ground: DoorGround;
let server: Server;
let socket: Socket;
const gone = new AbortController();
beforeEach(async () => {
  ground = await makeDoorGround();
});
afterEach(async () => {
  socket.destroy();
  await new Promise((resolve) => server.close(resolve));
  await ground.dispose();
});

test("listens once for as long as it lasts, however often it wakes", async () => {
  const { store, door, home } = ground;
  let answered: ServerResponse | null = null;
  const { promise: over, resolve: end } = Promise.withResolvers<void>();
  server = createServer((_request, response) => {
    answered = response;
    response.once("close", () => gone.abort());
    const { signal } = gone;
    void sendStream(response, (direct) => door.stream(readEvents, {}, OPERATOR, { signal, direct }), signal).then(end);
  });
  const path = join(home.directory, "s");
  await new Promise<void>((resolve) => server.listen(path, resolve));
  socket = connect(path);
  socket.write("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n");
  let text = "";
  const { promise: allSeen, resolve: seen } = Promise.withResolvers<void>();
  socket.on("data", (bytes: Buffer) => {
    text += bytes.toString("utf8");
    if (text.includes("id: 50\n")) seen();
  });
  const { promise: begun, resolve: begin } = Promise.withResolvers<void>();
  socket.once("data", () => begin());
  await begun;
  for (let wake = 0; wake < 50; wake++) await store.commit({ events: [{ sessionId: null, body: STARTED }] });
  await allSeen;
  const response = answered as ServerResponse | null;
  expect(getEventListeners(gone.signal, "abort").length).toBeLessThan(3);
  expect(response?.listenerCount("drain")).toBeLessThan(3);
  expect(response?.listenerCount("error")).toBeLessThan(3);
  socket.destroy();
  await over;
  expect(getEventListeners(gone.signal, "abort")).toEqual([]);
});
