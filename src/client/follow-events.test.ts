import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createFixture } from "./client-fixture.ts";
import type { Fixture } from "./client-fixture.ts";

let fixture: Fixture;
beforeEach(() => {
  fixture = createFixture();
});
afterEach(() => fixture.close());

const frame = (seq: number): string =>
  `id: ${seq}\nevent: turn-completed\ndata: ${JSON.stringify({ seq, at: "", session_id: "ü", type: "turn-completed", data: {} })}\n\n`;

describe("followEvents", () => {
  it("gives each event once across broken connections, from the last one seen", async () => {
    const asked: (string | undefined)[] = [];
    await fixture.serve((request, response) => {
      asked.push(`${request.url} ${String(request.headers["last-event-id"])} ${String(request.headers.accept)}`);
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write(": events\n\n");
      const after = Number(request.headers["last-event-id"]);
      response.write(frame(after + 1) + frame(after + 2).slice(0, 30));
      setTimeout(() => request.socket.destroy(), 10);
    });
    const seen: (number | string)[] = [];
    const onLink = (link: string): void => void seen.push(link);
    for await (const event of fixture.client.followEvents({ since: 4, session: "x" }, { onLink })) {
      seen.push(event.seq);
      if (event.seq === 7) break;
    }
    expect(seen).toEqual(["reached", 5, "lost", "reached", 6, "lost", "reached", 7]);
    expect(asked).toEqual([
      "/v1/events?since=4&session=x 4 text/event-stream",
      "/v1/events?since=5&session=x 5 text/event-stream",
      "/v1/events?since=6&session=x 6 text/event-stream",
    ]);
  });

  it("reads events that arrive byte by byte", async () => {
    await fixture.serve((_, response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      const bytes = [...Buffer.from(frame(1))];
      const writeNext = (): void => {
        const byte = bytes.shift();
        if (byte === undefined) return;
        response.write(Buffer.from([byte]));
        setImmediate(writeNext);
      };
      writeNext();
    });
    for await (const event of fixture.client.followEvents()) {
      expect(event).toEqual({ seq: 1, at: "", session_id: "ü", type: "turn-completed", data: {} });
      break;
    }
  });

  it("loses nothing when its reader is slow", async () => {
    await fixture.serve((_, response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write(Array.from({ length: 5_000 }, (_unused, index) => frame(index + 1)).join(""));
    });
    let expected = 1;
    for await (const event of fixture.client.followEvents()) {
      expect(event.seq).toBe(expected);
      if (expected % 500 === 0) await new Promise((resolve) => setTimeout(resolve, 5));
      if (expected++ === 5_000) break;
    }
  });

  it("throws what the daemon refuses", async () => {
    await fixture.serve(
      (_, response) => void response.writeHead(404).end('{"code":"unknown-session","kind":"not-found","detail":"no"}'),
    );
    await expect(async () => {
      for await (const _event of fixture.client.followEvents({ session: "x" })) expect.fail();
    }).rejects.toMatchObject({ code: "unknown-session" });
  });

  it("throws when there is no daemon to begin with, and ends when told to", async () => {
    await expect(async () => {
      for await (const _event of fixture.client.followEvents()) expect.fail();
    }).rejects.toMatchObject({ code: "daemon-not-running" });
    await fixture.serve((_, response) => void response.writeHead(200).write(": events\n\n"));
    for await (const _event of fixture.client.followEvents({}, { signal: AbortSignal.timeout(50) })) expect.fail();
  });
});
