import { createServer } from "node:net";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createFixture } from "./client-fixture.ts";
import type { Fixture } from "./client-fixture.ts";
import { exchange } from "./request.ts";
import type { ResponseHead } from "./response-parser.ts";

let fixture: Fixture;
beforeEach(() => {
  fixture = createFixture();
});
afterEach(() => fixture.close());

function ask(patienceMs = 1_000): Promise<string> {
  let said = "";
  const listener = {
    head: (head: ResponseHead) => (said += `${head.status} `),
    body: (bytes: Buffer) => (said += bytes.toString()),
  };
  return exchange(fixture, { method: "GET", path: "/", patienceMs }, listener).then(() => said);
}

describe("exchange", () => {
  it("gives the answer of a real server", async () => {
    await fixture.serve((_, response) => void response.end("hello"));
    expect(await ask()).toBe("200 hello");
  });

  it("tells a daemon that is silent from one that is gone", async () => {
    await fixture.serve(() => undefined);
    await expect(ask(30)).rejects.toMatchObject({ code: "daemon-silent", kind: "unavailable" });
  });

  it("does not believe what is not HTTP", async () => {
    const server = createServer((socket) => socket.end("what?\r\n\r\n"));
    await new Promise<void>((resolve) => server.listen(fixture.socketPath, resolve));
    await expect(ask()).rejects.toMatchObject({ code: "daemon-lost" });
    server.close();
  });
});
