/**
 * What carries requests from a box to the capture proxy, in each of the programs that can: bytes, ends, floods, and a
 * socket that comes and goes. Without a container: `test/containers/network-proxy.deep.test.ts` has that.
 */
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { createHash, randomBytes } from "node:crypto";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { connect, createServer, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { CARRIERS } from "../../src/runtime/passage.ts";
import { carrierCommand } from "../../src/runtime/boxed/passage-carrier.ts";
import { eventually } from "../support/eventually.ts";

describe.each(CARRIERS.map((name) => ({ name, isThere: isThere(name) })))("carried by $name", ({ name, isThere }) => {
  let root: string;
  let port: number;
  let carrier: ChildProcess;
  let servers: Server[];
  let sockets: Socket[];
  const path = (): string => join(root, "s");

  beforeEach(async () => {
    root = mkdtempSync(join(tmpdir(), "reeve-test-"));
    servers = [];
    sockets = [];
    port = await freePort();
    if (!isThere) return;
    // Its own group: what it starts for a connection ends with it.
    const [shell, ...args] = carrierCommand(name, port, path());
    carrier = spawn(shell, args, { stdio: "ignore", detached: true });
    await eventually("it listens", () => isListening(port));
  });
  afterEach(async () => {
    for (const socket of sockets) socket.destroy();
    for (const server of servers) server.close();
    if (isThere && carrier.exitCode === null) {
      process.kill(-(carrier.pid ?? 0), "SIGKILL");
      await once(carrier, "exit");
    }
    rmSync(root, { recursive: true, force: true });
  });

  async function serve(onConnection: (socket: Socket) => void): Promise<Server> {
    const server = createServer({ allowHalfOpen: true }, (socket) => {
      sockets.push(socket);
      socket.on("error", () => undefined);
      onConnection(socket);
    });
    servers.push(server);
    server.listen(path());
    await once(server, "listening");
    return server;
  }

  function open(): Socket {
    const socket = connect({ host: "127.0.0.1", port, allowHalfOpen: true });
    socket.on("error", () => undefined);
    sockets.push(socket);
    return socket;
  }

  test.skipIf(!isThere)(
    "large bodies pass both ways at once, byte for byte, each side ending when it likes",
    async () => {
      await serve((socket) => void socket.pipe(socket));
      const sent = randomBytes(8 * 1_048_576);
      const answers = await Promise.all(
        [1, 2, 3].map(async () => {
          const socket = open();
          socket.end(sent);
          const hash = createHash("sha256");
          for await (const part of socket) hash.update(part as Buffer);
          return hash.digest("hex");
        }),
      );
      expect(new Set(answers)).toEqual(new Set([createHash("sha256").update(sent).digest("hex")]));
    },
  );

  test.skipIf(!isThere)(
    "each piece arrives before the next is sent, and an answer after one side has ended",
    async () => {
      const heard: string[] = [];
      await serve((socket) => {
        socket.on("data", (bytes: Buffer) => heard.push(bytes.toString()));
        socket.on("end", () => socket.end("after the end"));
      });
      const socket = open();
      for (const piece of ["one", "two", "three"]) {
        socket.write(piece);
        await eventually(`${piece} arrived`, () => heard.join("").endsWith(piece));
      }
      socket.end();
      const parts: Buffer[] = [];
      for await (const part of socket) parts.push(part as Buffer);
      expect(Buffer.concat(parts).toString()).toBe("after the end");
    },
  );

  test.skipIf(!isThere)("what is not taken on one side is not read on the other", async () => {
    const taken: Socket[] = [];
    await serve((socket) => {
      socket.pause();
      taken.push(socket);
    });
    const socket = open();
    await once(socket, "connect");
    // Far more than the kernel's buffers and the carrier's together.
    const whole = 64 * 1_048_576;
    for (let sent = 0; sent < whole; sent += 65_536) socket.write(Buffer.alloc(65_536));
    await eventually("it is connected", () => taken.length === 1);
    let before = -1;
    let looks = 0;
    await eventually("nothing more is taken", () => {
      looks = socket.writableLength === before ? looks + 1 : 0;
      before = socket.writableLength;
      return looks > 20;
    });
    expect(socket.writableLength).toBeGreaterThan(0);
    expect(residentBytes(carrier.pid ?? 0)).toBeLessThan(128 * 1_048_576);
    let received = 0;
    taken[0]?.on("data", (bytes: Buffer) => (received += bytes.length));
    taken[0]?.resume();
    await eventually("all of it arrives", () => received === whole, 60_000);
  });

  test.skipIf(!isThere)("without a socket a connection is closed, and the next socket is used", async () => {
    expect(await read(open())).toBe("");
    const first = await serve((socket) => void socket.end("first"));
    expect(await read(open())).toBe("first");
    const gone = new Promise((resolve) => first.close(resolve));
    sockets.forEach((socket) => socket.destroy());
    await gone;
    await serve((socket) => void socket.end("second"));
    expect(await read(open())).toBe("second");
  });

  test.skipIf(!isThere)("a flood of connections is held back, and serves again when it is over", async () => {
    let count = 0;
    let most = 0;
    await serve((socket) => {
      count += 1;
      most = Math.max(most, count);
      socket.on("close", () => (count -= 1));
      socket.on("data", () => void socket.end("served"));
      socket.on("end", () => socket.end());
    });
    const flood = Array.from({ length: 300 }, open);
    await eventually("they are there", () => count >= 100);
    for (const socket of flood) socket.destroy();
    await eventually("they are gone", () => count === 0);
    expect(most).toBeLessThanOrEqual(128);
    const socket = open();
    socket.write("x");
    expect(await read(socket)).toBe("served");
  });
});

async function read(socket: Socket): Promise<string> {
  const parts: Buffer[] = [];
  try {
    for await (const part of socket) parts.push(part as Buffer);
  } catch {
    // Broken off: what came so far is what there is.
  }
  socket.end();
  return Buffer.concat(parts).toString();
}

function isThere(name: string): boolean {
  try {
    execFileSync("sh", ["-c", `command -v ${name}`], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as { readonly port: number };
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** Without a connection, which would be carried. */
function isListening(port: number): boolean {
  const at = `0100007F:${port.toString(16).toUpperCase().padStart(4, "0")} 00000000:0000 0A`;
  return readFileSync("/proc/net/tcp", "utf8").includes(at);
}

function residentBytes(pid: number): number {
  return Number(execFileSync("ps", ["-o", "rss=", "-p", String(pid)], { encoding: "utf8" })) * 1_024;
}
