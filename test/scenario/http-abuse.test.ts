/** What a broken or hostile program may send to the socket: it is refused, never an error of Reeve's own. */
import { readFileSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import * as fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { operations } from "../../src/operation/operations.ts";
import { askDaemon } from "../support/ask-daemon.ts";
import type { TestHome } from "../support/test-home.ts";
import { createTestHome } from "../support/test-home.ts";

let home: TestHome;
beforeAll(async () => {
  home = createTestHome();
  await home.json("daemon", "start");
});
afterAll(() => home.dispose());

interface Outcome {
  /** Of the first answer; null when there was none. */
  readonly status: number | null;
  readonly text: string;
}

/** Sends these bytes and reads until the other side closes; a sender who has sent all says so. */
function talk(bytes: Buffer | string, options: { readonly staysOpen?: boolean } = {}): Promise<Outcome> {
  return new Promise((resolve) => {
    const socket = connect(home.socketPath);
    let text = "";
    socket.on("data", (chunk: Buffer) => (text += chunk.toString("latin1")));
    socket.on("error", () => undefined);
    socket.on("close", () => resolve({ status: Number(/^HTTP\/1\.1 (\d+)/.exec(text)?.[1] ?? NaN) || null, text }));
    socket.write(bytes);
    if (options.staysOpen !== true) socket.end();
  });
}

const asked = (line: string, headers = "", body = ""): string =>
  `${line} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n${headers}\r\n${body}`;

const isAlive = async (): Promise<boolean> => (await askDaemon(home, "/v1/daemon")) !== null;

test.each([
  "GET //",
  "GET http://[",
  "GET http://[/v1/daemon",
  "GET ///v1/sessions",
  "OPTIONS *",
  "GET http://",
  "GET ?",
  "GET /%",
  "GET /v1/sessions/%ff%00",
  "GET /v1/sessions/..%2f..",
  "GET mailto:x",
])("%s is the caller's mistake", async (line) => {
  const { status, text } = await talk(asked(line));
  expect([400, 404], text).toContain(status);
  expect(await isAlive()).toBe(true);
});

test("an absolute address is as good as a path", async () => {
  expect(await talk(asked("GET http://localhost/v1/daemon"))).toMatchObject({ status: 200 });
});

test("a body beyond the limit is refused with 413 and the connection is closed, whether its length was told or not", async () => {
  const body = Buffer.alloc(9 * 1024 * 1024, "x");
  const head = (length: string): Buffer =>
    Buffer.from(`POST /v1/sessions HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n${length}\r\n\r\n`);
  // The sender keeps its side open, and of the first also what it promised: only the daemon can end this.
  const told = await talk(head(`Content-Length: ${body.length}`), { staysOpen: true });
  expect(told).toMatchObject({ status: 413 });
  expect(told.text).toContain("request-too-large");
  const sent = await talk(Buffer.concat([head(`Content-Length: ${body.length}`), body]), { staysOpen: true });
  expect(sent).toMatchObject({ status: 413 });
  const chunk = Buffer.concat([Buffer.from(`${body.length.toString(16)}\r\n`), body]);
  const streamed = await talk(Buffer.concat([head("Transfer-Encoding: chunked"), chunk]), { staysOpen: true });
  expect(streamed).toMatchObject({ status: 413 });
  expect(await isAlive()).toBe(true);
});

test("the client is told so as well", async () => {
  const huge = { agent: "command", args: ["true"], cwd: "/", env: { HUGE: "x".repeat(9 * 1024 * 1024) } };
  expect(await askDaemon(home, "/v1/sessions", huge)).toMatchObject({ code: "request-too-large" });
});

test("nothing that is sent is answered with 500", { timeout: 120_000 }, async () => {
  const paths = operations
    .filter((operation) => operation.name !== "stop_daemon")
    .map((operation) => operation.path.replace("{session}", "x"));
  const strange = fc.oneof(fc.string({ unit: "binary", maxLength: 40 }), fc.webUrl(), fc.webPath());
  const target = fc.oneof(
    strange,
    fc
      .tuple(fc.constantFrom(...paths), fc.webQueryParameters(), strange)
      .map(([path, query, more]) => `${path}?${query}${more}`),
    fc
      .tuple(fc.constantFrom(...paths), strange)
      .map(([path, more]) => `${path}/${encodeURIComponent(more.toWellFormed())}`),
  );
  const header = fc.tuple(
    fc.constantFrom(
      "Idempotency-Key",
      "Last-Event-ID",
      "Content-Type",
      "Accept",
      "Expect",
      "Upgrade",
      "Cookie",
      "Range",
      "X",
    ),
    fc.oneof(
      fc.string({ maxLength: 60 }),
      fc.constantFrom("text/event-stream", "application/json", "100-continue", "websocket", "", "0"),
    ),
  );
  const body = fc.oneof(
    fc.constant(""),
    fc.json(),
    fc.object({ maxDepth: 3 }).map((value) => JSON.stringify(value)),
    fc
      .record(
        {
          session: fc.anything(),
          agent: fc.constantFrom<unknown>("command", "practice", 7, null),
          args: fc.oneof(fc.array(fc.string()), fc.anything()),
          cwd: fc.oneof(fc.constantFrom("/", "/nowhere", ""), fc.anything()),
          text: fc.anything(),
          environment: fc.anything(),
          env: fc.anything(),
          timeout_seconds: fc.oneof(fc.double(), fc.constantFrom<unknown>(0, -1, 1e9, "1")),
        },
        { requiredKeys: [] },
      )
      .map((value) => {
        try {
          return JSON.stringify(value) ?? "";
        } catch {
          return "{}";
        }
      }),
    fc.string({ unit: "binary", maxLength: 200 }),
  );
  const request = fc.record({
    method: fc.constantFrom("GET", "GET", "POST", "POST", "PUT", "DELETE", "HEAD", "OPTIONS", "get", "X"),
    target,
    headers: fc.array(header, { maxLength: 4 }),
    body,
    length: fc.constantFrom("true", "none", "short", "long", "chunked"),
  });
  await fc.assert(
    fc.asyncProperty(request, async ({ method, target: path, headers, body: content, length }) => {
      const bytes = Buffer.byteLength(content);
      const lengths = {
        true: `Content-Length: ${bytes}\r\n`,
        none: "",
        short: `Content-Length: ${Math.max(0, bytes - 3)}\r\n`,
        long: `Content-Length: ${bytes + 50}\r\n`,
        chunked: "Transfer-Encoding: chunked\r\n",
      } as const;
      const line = `${method} ${path.replace(/[\r\n ]/g, "+")}`;
      const lines = headers.map(([name, value]) => `${name}: ${value.replace(/[\r\n]/g, " ")}\r\n`).join("");
      const typed = lines.includes("Content-Type") ? "" : "Content-Type: application/json\r\n";
      const { status, text } = await talk(asked(line, `${lines}${typed}${lengths[length]}`, content));
      // Not every request deserves an answer; none deserves this one.
      expect(status === 500, `${line}\n${lines}\n${content}\n${text}`).toBe(false);
    }),
    // Without an engine on this machine there are no images: that is said, and is no failure of Reeve.
    { numRuns: 400, examples: [[{ method: "GET", target: "/v1/images", headers: [], body: "", length: "true" }]] },
  );
  expect(await isAlive()).toBe(true);
  expect(readFileSync(join(home.dir, "daemon.log"), "utf8")).not.toContain("a request failed");
});
