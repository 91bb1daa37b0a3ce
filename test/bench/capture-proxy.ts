/**
 * Target 8: what the capture proxy adds to a request and to each chunk of a
 * stream, against a bare program that passes both on and appends them to a
 * file. Client and upstream are here; one after the other, over connections
 * that stay open. The proxy has five secrets to look for, as a session has.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readFileSync } from "node:fs";
import { Agent, createServer, type IncomingMessage, request, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { routeAddress } from "../../src/capture/proxy/contract.ts";
import { connectControl } from "../../src/capture/proxy/control-client.ts";
import { newRouteKey } from "../../src/capture/proxy/route-key.ts";
import type { Build } from "./support/build.ts";
import { keepProgram } from "./support/child.ts";
import { alternate, atMost, compare, timed } from "./support/measure.ts";
import type { Scope } from "./support/scope.ts";
import type { Target } from "./support/target.ts";

const PROMPT = JSON.stringify({ model: "m", input: "what shall be done about the parser? ".repeat(300) });
const ANSWER = JSON.stringify({ output: "it shall be written again. ".repeat(80) });
const CHUNK = `event: delta\ndata: ${JSON.stringify({ type: "delta", index: 0, text: "a few words of the answer" })}\n\n`;
/** One sample is so many of them, one after the other. */
const REQUESTS = 20;
const CHUNKS = 50;
/** So many that the copy must be worked on meanwhile. */
const STEADY = 500;

export const captureProxy: Target = {
  number: 8,
  title: "the capture proxy: a request, and a chunk of a stream",
  async measure({ scope, build, rounds, add }) {
    const upstream = await startUpstream(scope);
    const bare = await startBare(scope, build, upstream.port);
    const reeve = await startProxy(scope, build, upstream.port);
    const requests = async (base: string, count = REQUESTS): Promise<number> => {
      const ms = await timed(async () => {
        for (let n = 0; n < count; n += 1) await ask(`${base}/v1/answer`);
      });
      return ms / count;
    };
    const streams = { bare: await upstream.stream(bare), reeve: await upstream.stream(reeve) };
    const chunks = async (send: () => Promise<void>): Promise<number> => {
      const ms = await timed(async () => {
        for (let n = 0; n < CHUNKS; n += 1) await send();
      });
      return ms / CHUNKS;
    };
    const samples = await alternate({ count: rounds(150, 40), warmUp: 20, pauseMs: 5 }, [
      async () => ({ bareRequest: await requests(bare) }),
      async () => ({ reeveRequest: await requests(reeve) }),
      async () => ({ bareChunk: await chunks(streams.bare) }),
      async () => ({ reeveChunk: await chunks(streams.reeve) }),
    ]);
    const steady = await alternate({ count: rounds(10, 4), warmUp: 1, pauseMs: 50 }, [
      async () => ({ bare: await requests(bare, STEADY) }),
      async () => ({ reeve: await requests(reeve, STEADY) }),
    ]);
    const common = { target: 8, baselineName: "bare Node tee proxy", limit: atMost(1.2) };
    add(
      compare({
        ...common,
        what: "a request of 11 KB",
        subject: samples("reeveRequest"),
        baseline: samples("bareRequest"),
      }),
      compare({
        ...common,
        what: `… among ${STEADY} in a row, recorded meanwhile`,
        subject: steady("reeve"),
        baseline: steady("bare"),
      }),
      compare({
        ...common,
        what: "a chunk of a stream",
        subject: samples("reeveChunk"),
        baseline: samples("bareChunk"),
      }),
    );
  },
};

const agent = new Agent({ keepAlive: true });

async function ask(address: string): Promise<void> {
  const headers = { authorization: "Bearer not-a-real-key", "content-length": Buffer.byteLength(PROMPT) };
  const asking = request(address, { method: "POST", agent, headers });
  asking.end(PROMPT);
  const [response] = (await once(asking, "response")) as [IncomingMessage];
  response.resume();
  await once(response, "end");
}

interface BenchUpstream {
  readonly port: number;
  /** Opens a stream by this address; each call sends one chunk and resolves when it has come. */
  stream(base: string): Promise<() => Promise<void>>;
}

async function startUpstream(scope: Scope): Promise<BenchUpstream> {
  const opened: ServerResponse[] = [];
  const server = createServer((incoming, outgoing) => {
    if (incoming.url?.endsWith("/stream") === true) {
      outgoing.writeHead(200, { "content-type": "text/event-stream" });
      outgoing.flushHeaders();
      return void opened.push(outgoing);
    }
    incoming.resume();
    incoming.once("end", () => {
      outgoing.writeHead(200, { "content-type": "application/json", "content-length": Buffer.byteLength(ANSWER) });
      outgoing.end(ANSWER);
    });
  });
  server.keepAliveTimeout = 600_000;
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  scope.defer(() => {
    agent.destroy();
    server.close();
    server.closeAllConnections();
  });
  return {
    port: (server.address() as AddressInfo).port,
    async stream(base) {
      const asking = request(`${base}/v1/stream`, { agent: false }).end();
      const [response] = (await once(asking, "response")) as [IncomingMessage];
      response.on("error", () => undefined);
      const outgoing = opened.at(-1);
      return async () => {
        const come = once(response, "data");
        outgoing?.write(CHUNK);
        await come;
      };
    },
  };
}

async function startBare(scope: Scope, build: Build, upstreamPort: number): Promise<string> {
  const portPath = join(build.temporary, "tee.port");
  const args = [portPath, String(upstreamPort), join(build.temporary, "tee.copy")];
  await keepProgram(scope, build.bare("tee-proxy"), { args, environment: {} });
  return `http://127.0.0.1:${readFileSync(portPath, "utf8")}`;
}

async function startProxy(scope: Scope, build: Build, upstreamPort: number): Promise<string> {
  const directory = join(build.temporary, "session");
  mkdirSync(directory, { mode: 0o700 });
  const controlPath = join(build.temporary, "capture.sock");
  const program = join(build.temporary, "dist", "capture-proxy.js");
  const child = spawn(process.execPath, [program, "--control", controlPath, "--port", "0"], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  scope.defer(async () => {
    const exited = once(child, "exit");
    if (child.exitCode === null && child.signalCode === null) child.kill("SIGKILL");
    else return;
    await exited;
  });
  await once(createInterface({ input: child.stdout }), "line");
  const control = await connectControl(controlPath, () => undefined);
  scope.defer(() => control.close());
  const key = newRouteKey();
  const { port } = await control.register({
    key,
    sessionId: "bench",
    directory,
    upstreams: { api: `http://127.0.0.1:${upstreamPort}` },
    secrets: Array.from({ length: 5 }, (_, n) => `s3cr3t-${n}-${"0123456789abcdef".repeat(2)}`),
    tagKey: "bench",
    network: { httpProxy: null, httpsProxy: null, noProxy: null, caFile: null },
    capBytes: 256 * 1_048_576,
  });
  return routeAddress(port, key, "api");
}
