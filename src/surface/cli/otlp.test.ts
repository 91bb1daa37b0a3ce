/** Traces to a real HTTP server, and to files. */
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createServer, type IncomingHttpHeaders, type Server } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { Client } from "../../client/create-client.ts";
import { part } from "../../session/story/story-fixture.ts";
import { exportTraces, type OtlpRequest } from "./otlp.ts";

const ENTRIES = Array.from({ length: 450 }, (_, index) => {
  const { mono: _mono, ...entry } = part("api", index + 1, index, null, { type: "model-call", kind: "api" });
  return entry;
});

/** As the daemon answers: page by page. */
const client = {
  async showSession({ since }: { readonly since?: string }) {
    const from = Number(since ?? 0);
    const entries = ENTRIES.slice(from, from + 400);
    return {
      session: null,
      imported: null,
      entries,
      cursor: `${from + 400}`,
      more: from + 400 < ENTRIES.length,
      gaps: [],
    };
  },
} as unknown as Client;

interface Received {
  readonly path: string | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly spans: number;
}
let directory = "";
let server: Server;
let received: Received[] = [];
let status = 200;
beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), "reeve-otlp-"));
  received = [];
  status = 200;
  server = createServer((request, response) => {
    let body = "";
    request.setEncoding("utf8").on("data", (text: string) => (body += text));
    request.on("end", () => {
      const { resourceSpans } = JSON.parse(body) as { resourceSpans: { scopeSpans: { spans: unknown[] }[] }[] };
      const spans = resourceSpans[0]?.scopeSpans[0]?.spans.length ?? 0;
      received.push({ path: request.url, headers: request.headers, spans });
      response.writeHead(status, { "content-type": "application/json" }).end("{}");
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
});
afterEach(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
  rmSync(directory, { recursive: true, force: true });
});

function give(to: string, environment: OtlpRequest["environment"] = {}): ReturnType<typeof exportTraces> {
  const about = { session: "builder", hasContent: false, version: "1.2.3", cwd: directory, environment };
  return exportTraces(client, { ...about, to });
}
function address(): string {
  const bound = server.address();
  return `http://127.0.0.1:${typeof bound === "object" ? bound?.port : 0}`;
}

test("a collector gets all spans, some at a time, with the headers of the environment", async () => {
  const given = await give(address(), { OTEL_EXPORTER_OTLP_HEADERS: "x-team=a%20b, authorization=Bearer t" });
  expect(given).toMatchObject({ to: `${address()}/v1/traces`, spans: 451 });
  expect(received.map(({ spans }) => spans)).toEqual([200, 200, 51]);
  for (const { path, headers } of received) {
    expect(path).toBe("/v1/traces");
    expect(headers).toMatchObject({ "content-type": "application/json", "x-team": "a b", authorization: "Bearer t" });
  }
});

test("an address with the path of traces is taken as it is", async () => {
  await give(`${address()}/base/v1/traces`);
  expect(received[0]?.path).toBe("/base/v1/traces");
});

test("a collector that refuses, one that is not there, and headers that are none are told", async () => {
  status = 503;
  await expect(give(address())).rejects.toThrow(/refused the spans with status 503/);
  expect(received).toHaveLength(1);
  await expect(give("http://")).rejects.toThrow(/is not an address/);
  await expect(give(address(), { OTEL_EXPORTER_OTLP_HEADERS: "nonsense" })).rejects.toThrow(/name=value/);
  const gone = address();
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
  await expect(give(gone)).rejects.toThrow(/could not be reached \(.*ECONNREFUSED.*\)/);
});

test("a file is private, whole, and never overwritten", async () => {
  await give("traces.json");
  const path = join(directory, "traces.json");
  expect(statSync(path).mode & 0o777).toBe(0o600);
  const { resourceSpans } = JSON.parse(readFileSync(path, "utf8")) as {
    resourceSpans: { scopeSpans: { spans: unknown[] }[] }[];
  };
  expect(resourceSpans[0]?.scopeSpans[0]?.spans).toHaveLength(451);
  writeFileSync(path, "mine");
  await expect(give("traces.json")).rejects.toThrow(/is there already/);
  expect(readFileSync(path, "utf8")).toBe("mine");
  await expect(give("missing/traces.json")).rejects.toThrow(/could not be written/);
  expect(readdirSync(directory)).toEqual(["traces.json"]);
});
