/**
 * Runs programs in a container over one connection each, which the engine hands
 * over. Without a terminal: then the engine closes the program's standard input
 * when this side is gone, whatever ended it, and the program ends with it. (With
 * one, it would stay: seen with Engine 20.10.) Standard output and error come in
 * frames: a byte that says which of the two, three zeros, the length in four
 * bytes, and that many bytes.
 */
import type { Duplex } from "node:stream";
import { messageOf } from "../../platform/reeve-error.ts";
import type { ByteStream, Transport } from "../transport.ts";
import type { EngineClient } from "./engine-client.ts";

const HEADER_BYTES = 8;
const STDERR = 2;
/** A program that ends with its standard input does so within milliseconds; an engine that hangs is not waited for. */
const GOODBYE_MS = 500;

export interface ExecOptions {
  readonly user: string;
}

export function execTransport(engine: EngineClient, containerId: string, { user }: ExecOptions): Transport {
  const begin = async (argv: readonly string[]): Promise<Duplex> => {
    const made = await engine.demand("POST", `/containers/${containerId}/exec`, {
      body: { AttachStdin: true, AttachStdout: true, AttachStderr: true, Tty: false, Cmd: argv, User: user },
    });
    const id = (made as { readonly Id?: unknown }).Id;
    if (typeof id !== "string") throw new Error("the engine did not say what it started");
    return await engine.takeOver(`/exec/${id}/start`, { Detach: false, Tty: false });
  };

  return { openStream: (argv, onData) => openStream(begin(argv), onData) };
}

/** The program that the container itself begins with, seen from before it is started. */
export interface AttachedProgram {
  /** Opens the one stream to it, whatever it is asked to run. */
  readonly transport: Transport;
  /** It has said something: it runs, whether or not the engine has told so yet. */
  readonly spoke: Promise<void>;
}

/** Podman prepares all of the container for it. */
const ATTACH_MS = 60_000;

/** Of a container that was made for it (`OpenStdin`) and is not started yet: nothing that it says is missed. */
export async function attachedProgram(engine: EngineClient, containerId: string): Promise<AttachedProgram> {
  const path = `/containers/${containerId}/attach?stream=1&stdin=1&stdout=1&stderr=1`;
  const socket = await engine.takeOver(path, undefined, ATTACH_MS);
  return {
    transport: { openStream: (_argv, onData) => openStream(Promise.resolve(socket), onData) },
    // Not by "data", which would take away what it says.
    spoke: new Promise((resolve) => void socket.once("readable", resolve)),
  };
}

function openStream(beginning: Promise<Duplex>, onData: (chunk: Buffer) => void): ByteStream {
  let socket: Duplex | null = null;
  let isClosed = false;
  let waiting: string[] = [];
  let complaint = "";
  const frames = frameReader((stream, bytes) => {
    if (stream !== STDERR) onData(bytes);
    else if (complaint.length < 1_000) complaint += bytes.toString("utf8");
  });

  const run = async (): Promise<string> => {
    const opened = await beginning;
    socket = opened;
    opened.on("data", (chunk: Buffer) => (isClosed ? undefined : frames(chunk)));
    const ended = new Promise<string>((resolve) => {
      opened.once("error", (error) => resolve(messageOf(error)));
      opened.once("end", () => resolve("it ended"));
      opened.once("close", () => resolve("the connection to the container was closed"));
    });
    for (const text of waiting) opened.write(text);
    waiting = [];
    if (isClosed) opened.end();
    const why = await ended;
    opened.destroy();
    return complaint.trim() || why;
  };

  return {
    pid: undefined,
    closed: run().catch((error: unknown) => messageOf(error)),
    write(text) {
      if (socket === null) waiting.push(text);
      else socket.write(text);
    },
    close() {
      isClosed = true;
      socket?.end();
      setTimeout(() => socket?.destroy(), GOODBYE_MS).unref();
    },
  };
}

function frameReader(tell: (stream: number, bytes: Buffer) => void): (chunk: Buffer) => void {
  let header = Buffer.alloc(0);
  let left = 0;
  let stream = 0;
  return (chunk) => {
    let at = 0;
    while (at < chunk.length) {
      if (left === 0) {
        const missing = HEADER_BYTES - header.length;
        header = Buffer.concat([header, chunk.subarray(at, at + missing)]);
        at += missing;
        if (header.length < HEADER_BYTES) return;
        stream = header[0] ?? 0;
        left = header.readUInt32BE(4);
        header = Buffer.alloc(0);
        continue;
      }
      const bytes = chunk.subarray(at, at + left);
      at += bytes.length;
      left -= bytes.length;
      tell(stream, bytes);
    }
  };
}
