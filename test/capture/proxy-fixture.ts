/** A capture proxy, an upstream server and an agent's client on loopback, for tests. All of them are real. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import {
  createServer,
  type IncomingMessage,
  type RequestOptions,
  request as httpRequest,
  type Server,
  type ServerResponse,
} from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { eventually } from "../support/eventually.ts";
import { readIfThere } from "../support/read-if-there.ts";
import { RAW_LOG_NAME } from "../../src/capture/raw-log.ts";
import { type CaptureProxy, startCaptureProxy } from "../../src/capture/proxy/capture-proxy.ts";
import { type Observation, type Route, routeAddress } from "../../src/capture/proxy/contract.ts";
import { connectControl, type ProxyControl } from "../../src/capture/proxy/control-client.ts";
import { newRouteKey } from "../../src/capture/proxy/route-key.ts";
import { readResponseUsage as readClaude } from "../../src/agent/claude/response-usage.ts";

export type Line = Record<string, unknown> & { readonly kind: string; readonly exchange: string };
export type Handler = (request: IncomingMessage, response: ServerResponse) => unknown;

export interface Answered {
  readonly status: number;
  readonly headers: readonly string[];
  readonly body: Buffer;
  readonly trailers: readonly string[];
}

export interface TestProxy {
  readonly root: string;
  readonly directory: string;
  readonly control: ProxyControl;
  readonly observed: Observation[];
  readonly port: number;
  /** Of the program; null for one that runs in the test. */
  readonly child: ChildProcess | null;
  route(upstreams: Readonly<Record<string, string>>, more?: Partial<Route>): Promise<Route>;
  address(route: Route, upstream?: string): string;
  /** Of the log and the older one; what a crash cut is left out. */
  lines(directory?: string): Line[];
  /** All lines, once so many exchanges have ended. */
  ended(count?: number): Promise<Line[]>;
  /** The lines of the exchange whose address ends so, once it has ended. */
  recorded(path: string): Promise<Line[]>;
  dispose(): Promise<void>;
}

const DIRECT = { httpProxy: null, httpsProxy: null, noProxy: null, caFile: null };

export function makeRoot(): string {
  return mkdtempSync(join(tmpdir(), "reeve-test-"));
}

export async function startTestProxy(
  options: { readonly root?: string; readonly port?: number; readonly asProgram?: boolean } = {},
): Promise<TestProxy> {
  const root = options.root ?? makeRoot();
  const controlPath = join(root, "control.sock");
  const port = options.port ?? 0;
  const program = options.asProgram === true ? await startProgram(controlPath, port) : null;
  const inside: CaptureProxy | null =
    program === null ? await startCaptureProxy({ controlPath, port, readUsage: readClaude }) : null;
  const observed: Observation[] = [];
  const control = await connectControl(controlPath, (observation) => observed.push(observation));
  const directory = join(root, "session");
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const actualPort = program?.port ?? inside?.port ?? 0;
  const lines = (of = directory): Line[] => [
    ...linesIn(join(of, `${RAW_LOG_NAME}.1`)),
    ...linesIn(join(of, RAW_LOG_NAME)),
  ];
  return {
    root,
    directory,
    control,
    observed,
    port: actualPort,
    child: program?.child ?? null,
    async route(upstreams, more = {}) {
      const route: Route = {
        key: newRouteKey(),
        sessionId: "s-1",
        directory,
        upstreams,
        secrets: [],
        tagKey: "the key of this home",
        network: DIRECT,
        capBytes: 512 * 1_048_576,
        ...more,
      };
      await control.register(route);
      return route;
    },
    address: (route, upstream = "api") => routeAddress(actualPort, route.key, upstream),
    lines,
    ended: (count = 1) =>
      eventually(`${count} exchanges are recorded`, () => {
        const all = lines();
        return all.filter(({ kind }) => kind === "end").length >= count ? all : null;
      }),
    recorded: (path) =>
      eventually(`${path} is recorded`, () => {
        const all = lines();
        const begun = all.find((line) => line.kind === "request" && String(line["url"]).endsWith(path));
        const of = all.filter(({ exchange }) => begun !== undefined && exchange === begun.exchange);
        return of.at(-1)?.kind === "end" ? of : null;
      }),
    async dispose() {
      if (inside !== null) {
        inside.stop();
        await inside.ended;
      }
      control.close();
      if (program !== null && program.child.exitCode === null && program.child.signalCode === null) {
        program.child.kill("SIGTERM");
        await once(program.child, "exit");
      }
      if (options.root === undefined) rmSync(root, { recursive: true, force: true });
    },
  };
}

async function startProgram(
  controlPath: string,
  port: number,
): Promise<{ readonly child: ChildProcess; readonly port: number }> {
  const main = join(import.meta.dirname, "..", "..", "src", "capture-proxy-main.ts");
  const child = spawn(process.execPath, [main, "--control", controlPath, "--port", String(port)], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const [line] = (await once(createInterface({ input: child.stdout }), "line")) as [string];
  const said = JSON.parse(line) as { readonly port?: number };
  if (said.port === undefined) throw new Error(line);
  return { child, port: said.port };
}

/** None while it is not there: a full one is renamed at any moment. */
function linesIn(path: string): Line[] {
  return (readIfThere(path) ?? "").split("\n").flatMap((line) => {
    try {
      return [JSON.parse(line) as Line];
    } catch {
      return [];
    }
  });
}

export interface TestUpstream {
  readonly server: Server;
  readonly port: number;
  readonly url: string;
  close(): Promise<void>;
}

export async function startUpstream(handle: Handler): Promise<TestUpstream> {
  const server = createServer({ keepAliveTimeout: 60_000 }, (request, response) => void handle(request, response));
  server.on("checkContinue", (request, response) => void handle(request, response));
  return serving(server, "http");
}

export async function serving(server: Server, scheme: "http" | "https"): Promise<TestUpstream> {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    server,
    port,
    url: `${scheme}://127.0.0.1:${port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** One request as an agent makes it; with the pieces of its body, each sent when the one before was. */
export async function ask(
  address: string,
  options: RequestOptions & { readonly pieces?: readonly Buffer[]; readonly trailers?: Record<string, string> } = {},
): Promise<Answered> {
  const request = httpRequest(address, { agent: false, ...options });
  for (const piece of options.pieces ?? [])
    await new Promise<void>((resolve) => void request.write(piece, () => resolve()));
  if (options.trailers !== undefined) request.addTrailers(options.trailers);
  request.end();
  const [response] = (await once(request, "response")) as [IncomingMessage];
  return readAnswer(response);
}

export async function readAnswer(response: IncomingMessage): Promise<Answered> {
  const parts: Buffer[] = [];
  for await (const part of response) parts.push(part as Buffer);
  return {
    status: response.statusCode ?? 0,
    headers: response.rawHeaders,
    body: Buffer.concat(parts),
    trailers: response.rawTrailers,
  };
}

export async function bodyOf(request: IncomingMessage): Promise<Buffer> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  return Buffer.concat(parts);
}

/** The decoded body that the lines of an exchange tell. */
export function toldBody(lines: readonly Line[], from: "agent" | "model", exchange = lines[0]?.exchange): Buffer {
  const of = lines.filter((line) => line.exchange === exchange);
  const told = of.filter((line) =>
    from === "agent" ? line.kind === "request" || line["from"] === "agent" : line["from"] === "model",
  );
  return Buffer.concat(
    told.map((line) => Buffer.from(String(line["body"]), line["encoding"] === "base64" ? "base64" : "utf8")),
  );
}
