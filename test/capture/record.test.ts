/** What is recorded, what never is, and what happens where it cannot be. */
import { spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, rmSync } from "node:fs";
import { type IncomingMessage, request as httpRequest } from "node:http";
import { join } from "node:path";
import { brotliCompressSync, createGzip, deflateRawSync, deflateSync, gzipSync, zstdCompressSync } from "node:zlib";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { eventually } from "../support/eventually.ts";
import { readIfThere } from "../support/read-if-there.ts";
import { MOST_DECODED } from "../../src/capture/content-decoder.ts";
import { RAW_LOG_NAME } from "../../src/capture/raw-log.ts";
import { createTagger } from "../../src/capture/secret-tag.ts";
import {
  ask,
  bodyOf,
  type Handler,
  type Line,
  makeRoot,
  startTestProxy,
  startUpstream,
  type TestProxy,
  type TestUpstream,
  toldBody,
} from "./proxy-fixture.ts";

const CANARY = "c4nary-k3y/with+odd=characters 0123456789";
const PLAIN = "pl41n-canary-0123456789abcdef";
let proxy: TestProxy;
let upstream: TestUpstream;
let handle: Handler;
let count = 0;

beforeAll(async () => {
  proxy = await startTestProxy();
  upstream = await startUpstream((request, response) => handle(request, response));
});
afterEach(() => {
  handle = (_request, response) => void response.end();
});
afterAll(async () => {
  await proxy.dispose();
  await upstream.close();
});

/** A directory of its own for each test. */
async function setUp(secrets: readonly string[] = [], capBytes = 64 * 1_048_576) {
  const directory = join(proxy.root, `session-${(count += 1)}`);
  mkdirSync(directory, { mode: 0o700 });
  const route = await proxy.route({ api: upstream.url }, { directory, secrets, capBytes });
  // A full one is renamed at any moment.
  const written = (): string =>
    [`${RAW_LOG_NAME}.1`, RAW_LOG_NAME].map((name) => readIfThere(join(directory, name)) ?? "").join("");
  const ended = (exchanges = 1): Promise<Line[]> =>
    eventually(
      `${exchanges} exchanges are recorded`,
      () => {
        // Megabytes, in the process of the proxy itself: not parsed before the end is in them.
        if (!written().includes('"kind":"end"')) return null;
        const lines = proxy.lines(directory);
        return lines.filter(({ kind }) => kind === "end").length >= exchanges ? lines : null;
      },
      50_000,
    );
  return { directory, route, address: proxy.address(route), written, ended };
}

test("an exchange is told as the format says", async () => {
  const { address, ended } = await setUp();
  handle = async (request, response) => {
    await bodyOf(request);
    response.writeHead(200, { "content-type": "text/event-stream", "x-ratelimit-remaining-tokens": "12" });
    const events = [
      { type: "message_start", message: { model: "m-2", usage: { input_tokens: 10, cache_read_input_tokens: 5 } } },
      { type: "message_delta", usage: { output_tokens: 7 } },
    ];
    for (const event of events) {
      const text = `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;
      await new Promise((resolve) => response.write(text.slice(0, 40), resolve));
      await new Promise((resolve) => setImmediate(resolve));
      await new Promise((resolve) => response.write(text.slice(40), resolve));
    }
    response.end();
  };
  const body = JSON.stringify({ model: "m-2", text: "ü" });
  await ask(`${address}/v1/messages?beta=true`, {
    method: "POST",
    headers: { authorization: "Bearer abc-def", "x-api-key": "k", cookie: "a=b", "x-plain": "p" },
    pieces: [Buffer.from(body)],
  });
  const lines = await ended();
  const [request, head] = lines;
  const { exchange } = lines[0] ?? { exchange: "" };
  const tag = createTagger("the key of this home");
  expect(request).toEqual({
    v: 1,
    seq: 1,
    at: expect.stringMatching(/^\d{4}-.*\.\d{3}Z$/),
    mono_ms: expect.any(Number),
    kind: "request",
    exchange,
    captured: "proxy",
    method: "POST",
    url: `${upstream.url}/v1/messages?beta=true`,
    headers: expect.arrayContaining([
      ["authorization", `Bearer [redacted ${tag("abc-def")}]`],
      ["x-api-key", `[redacted ${tag("k")}]`],
      ["cookie", `[redacted ${tag("a=b")}]`],
      ["x-plain", "p"],
    ]),
    body,
    bytes: Buffer.byteLength(body),
  });
  expect(head).toMatchObject({ kind: "response-head", seq: 2, status: 200, latency_ms: expect.any(Number) });
  expect(head?.["headers"]).toContainEqual(["x-ratelimit-remaining-tokens", "12"]);
  const chunks = lines.filter(({ kind }) => kind === "chunk");
  expect(chunks.map(({ n }) => n)).toEqual(chunks.map((_, index) => index + 1));
  expect(lines.at(-1)).toMatchObject({
    kind: "end",
    outcome: "complete",
    error: null,
    status: 200,
    request_bytes: Buffer.byteLength(body),
    response_bytes: toldBody(lines, "model").length,
    chunks: chunks.length,
    model: "m-2",
    usage: { input_tokens: 15, output_tokens: 7, cached_tokens: 5 },
  });
});

test("a canary in headers, query and bodies, split at every position, is in no line", async () => {
  const { address, ended, written } = await setUp([CANARY, PLAIN]);
  const text = JSON.stringify({ a: CANARY, b: `x ${PLAIN} y`, ü: JSON.stringify({ inner: CANARY }) });
  const bytes = Buffer.from(text);
  handle = async (request, response) => {
    const body = await bodyOf(request);
    const at = Number(request.headers["x-at"]);
    response.writeHead(200, { "x-echo": PLAIN, "set-cookie": `s=${PLAIN}`, location: `/x?q=${PLAIN}` });
    await new Promise((resolve) => response.write(body.subarray(0, at), resolve));
    await new Promise((resolve) => setImmediate(resolve));
    response.end(body.subarray(at));
  };
  const positions = Array.from({ length: bytes.length - 1 }, (_, index) => index + 1);
  for (let from = 0; from < positions.length; from += 16)
    await Promise.all(
      positions.slice(from, from + 16).map(async (at) => {
        const query = `key=${at}secret&q=${encodeURIComponent(CANARY)}&plain=${PLAIN}&api_key=${PLAIN}`;
        const answer = await ask(`${address}/v1?${query}`, {
          method: "POST",
          headers: { "x-at": String(at), "x-custom": `with ${CANARY}`, authorization: `Bearer ${PLAIN}` },
          pieces: [bytes.subarray(0, at), bytes.subarray(at)],
        });
        expect(answer.body).toEqual(bytes);
      }),
    );
  const lines = await ended(positions.length);
  const all = written();
  for (const form of [CANARY, PLAIN, encodeURIComponent(CANARY), "secret&"]) expect(all).not.toContain(form);
  expect(all).not.toMatch(/c4nary-k3y|pl41n-canary|odd=characters/);
  const tag = createTagger("the key of this home");
  const safe = `[redacted ${tag(CANARY)}]`;
  const expected = JSON.stringify({ a: safe, b: `x [redacted ${tag(PLAIN)}] y`, ü: JSON.stringify({ inner: safe }) });
  const exchanges = new Set(lines.map(({ exchange }) => exchange));
  for (const exchange of exchanges) {
    expect(toldBody(lines, "agent", exchange).toString()).toBe(expected);
    expect(toldBody(lines, "model", exchange).toString()).toBe(expected);
  }
  expect(exchanges.size).toBe(positions.length);
});

test.each([
  ["gzip", gzipSync],
  ["deflate", deflateSync],
  ["deflate", deflateRawSync],
  ["br", brotliCompressSync],
  ["zstd", zstdCompressSync],
])("a body in %s is decoded before it is redacted", async (encoding, pack) => {
  const { address, ended, written } = await setUp([PLAIN]);
  const text = `some text with ${PLAIN} in it, and more of it. `.repeat(40);
  const packed = pack(text);
  handle = async (request, response) => {
    expect(await bodyOf(request)).toEqual(packed);
    response.writeHead(200, { "content-encoding": encoding });
    for (let at = 0; at < packed.length; at += 11) response.write(packed.subarray(at, at + 11));
    response.end();
  };
  const headers = { "content-encoding": encoding };
  const answer = await ask(address, { method: "POST", headers, pieces: [packed] });
  expect(answer.body).toEqual(packed);
  const lines = await ended();
  const safe = text.replaceAll(PLAIN, `[redacted ${createTagger("the key of this home")(PLAIN)}]`);
  expect(toldBody(lines, "agent").toString()).toBe(safe);
  expect(toldBody(lines, "model").toString()).toBe(safe);
  expect(written()).not.toContain(PLAIN);
});

test("what cannot be decoded passes, and is not recorded: it could hold anything", async () => {
  const { address, ended } = await setUp([PLAIN]);
  handle = (_request, response) => {
    response.writeHead(200, { "content-encoding": "unheard-of" });
    response.end(`it is ${PLAIN}`);
  };
  expect((await ask(address)).body.toString()).toBe(`it is ${PLAIN}`);
  const lines = await ended();
  expect(toldBody(lines, "model")).toHaveLength(0);
  await eventually("it is counted", () =>
    proxy.lines(join(proxy.root, `session-${count}`)).some(({ kind }) => kind === "dropped"),
  );
});

test("a gzip bomb passes as it is, and is recorded up to a bound", async () => {
  const { address, ended } = await setUp([], 4 * 1_048_576);
  const letters = Buffer.alloc(1_048_576, "a");
  const packer = createGzip({ level: 1 });
  const packedParts: Buffer[] = [];
  packer.on("data", (part: Buffer) => packedParts.push(part));
  for (let n = 0; n < 100; n += 1) if (!packer.write(letters)) await once(packer, "drain");
  packer.end();
  await once(packer, "end");
  const packed = Buffer.concat(packedParts);
  handle = (_request, response) => void response.writeHead(200, { "content-encoding": "gzip" }).end(packed);
  const answer = await ask(address);
  expect(answer.body).toEqual(packed);
  const lines = await ended();
  const told = lines.reduce((length, { body }) => length + (typeof body === "string" ? body.length : 0), 0);
  expect(told).toBeLessThanOrEqual(8 * 1_048_576);
  const dropped = lines.filter(({ kind }) => kind === "dropped").reduce((sum, line) => sum + Number(line["lines"]), 0);
  expect(dropped).toBeLessThan(MOST_DECODED / 1_048_576 + packed.length / 1_024);
  expect(lines.at(-1)).toMatchObject({ kind: "end", outcome: "complete", response_bytes: packed.length });
});

test("a large request is told in its line and in chunks", async () => {
  const { address, ended } = await setUp();
  handle = async (request, response) => void response.end(String((await bodyOf(request)).length));
  const block = Buffer.from("0123456789abcdef".repeat(65_536));
  await ask(address, { method: "POST", pieces: Array.from({ length: 6 }, () => block) });
  const lines = await ended();
  expect(toldBody(lines, "agent")).toHaveLength(6 * block.length);
  expect(lines.map(({ kind }) => kind).slice(0, 2)).toEqual(["request", "chunk"]);
});

test("a removed directory, and a full disk: the stream goes on, one warning each, recording resumes", async ({
  skip,
}) => {
  const root = makeRoot();
  const isMounted = spawnSync("mount", ["-t", "tmpfs", "-o", "size=128k", "tmpfs", root]).status === 0;
  try {
    if (!isMounted) skip("no tmpfs can be mounted here");
    const directory = join(root, "session");
    mkdirSync(directory, { mode: 0o700 });
    const route = await proxy.route({ api: upstream.url }, { directory, sessionId: "s-disk" });
    const streams: { write(text: string): void; end(): void }[] = [];
    handle = (_request, response) => {
      response.flushHeaders();
      streams.push(response);
    };
    const told = (): string[] =>
      proxy.observed.filter(({ sessionId }) => sessionId === "s-disk").map(({ observed }) => observed);
    const request = httpRequest(proxy.address(route), { agent: false }).end();
    const [response] = (await once(request, "response")) as [IncomingMessage];
    const pass = async (text: string): Promise<void> => {
      streams[0]?.write(text);
      const [bytes] = (await once(response, "data")) as [Buffer];
      expect(bytes.toString()).toBe(text);
    };
    await pass("first.\n");
    await eventually("it is recorded", () => proxy.lines(directory).some(({ body }) => body === "first.\n"));
    rmSync(directory, { recursive: true });
    await pass("second.\n");
    await eventually("it is recorded again", () => proxy.lines(directory).some(({ body }) => body === "second.\n"));
    await eventually("both are told", () => told().length === 2);
    expect(told()).toEqual(["cannot-record", "recording-again"]);
    spawnSync("dd", ["if=/dev/zero", `of=${join(root, "fill")}`, "bs=4096"]);
    const long = "z".repeat(9_000);
    for (let n = 0; n < 4; n += 1) await pass(`${n} ${long}`);
    await eventually("the warning comes", () => told().length === 3);
    await pass("while it is full.\n");
    const status = await proxy.control.status();
    expect(status.routes.find(({ sessionId }) => sessionId === "s-disk")?.outage).toMatch(/ENOSPC/);
    rmSync(join(root, "fill"));
    await eventually("it goes on", () => proxy.lines(directory).some(({ body }) => body === "while it is full.\n"));
    await eventually("it is told", () => told().length === 4);
    expect(told().slice(2)).toEqual(["cannot-record", "recording-again"]);
    streams[0]?.end();
    response.resume();
    await once(response, "end");
    // Whatever is written later would make the directory again.
    await eventually("its end is recorded", () => proxy.lines(directory).some(({ kind }) => kind === "end"));
  } finally {
    if (isMounted) {
      // Nothing of the proxy may be open there.
      for (const { key } of (await proxy.control.status()).routes) await proxy.control.unregister(key);
      await eventually("it can be unmounted", () => spawnSync("umount", [root]).status === 0);
    }
    rmSync(root, { recursive: true, force: true });
  }
});
