/**
 * A private D-Bus with a desktop's notification service on it, as far as
 * notify-send needs one: it keeps what it is asked to show. Speaks D-Bus itself
 * (https://dbus.freedesktop.org/doc/dbus-specification.html), little-endian only,
 * because no small package has one.
 */
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { eventually } from "./eventually.ts";

export interface Shown {
  readonly app: unknown;
  readonly summary: unknown;
  readonly body: unknown;
  readonly hints: Readonly<Record<string, unknown>>;
}

export interface NotificationDaemon {
  readonly bus: string;
  readonly shown: readonly Shown[];
  close(): Promise<void>;
}

export async function openNotificationDaemon(): Promise<NotificationDaemon> {
  const directory = mkdtempSync(join(tmpdir(), "reeve-dbus-"));
  const path = join(directory, "bus");
  const daemon = spawn("dbus-daemon", ["--session", "--nofork", "--nopidfile", `--address=unix:path=${path}`], {
    stdio: "ignore",
  });
  const gone = new Promise((resolve) => daemon.once("exit", resolve));
  const close = async (): Promise<void> => {
    daemon.kill("SIGKILL");
    await gone;
    rmSync(directory, { recursive: true });
  };
  try {
    const socket = await eventually("the D-Bus answers", () => tryConnect(path));
    const shown: Shown[] = [];
    const served = serve(socket, shown);
    const uid = Buffer.from(String(process.getuid?.() ?? 0)).toString("hex");
    socket.write(`\0AUTH EXTERNAL ${uid}\r\nBEGIN\r\n`);
    await served;
    return { bus: `unix:path=${path}`, shown, close };
  } catch (error) {
    await close();
    throw error;
  }
}

function tryConnect(path: string): Promise<Socket | null> {
  return new Promise((resolve) => {
    const socket = connect(path, () => resolve(socket));
    socket.once("error", () => resolve(null));
  });
}

/** Resolves when the service has its name; from then on calls are answered. */
function serve(socket: Socket, shown: Shown[]): Promise<void> {
  let buffer: Buffer = EMPTY;
  let isGreeted = false;
  let serial = 0;
  const send = (message: Message): void => void socket.write(encode({ ...message, serial: ++serial }));
  return new Promise((resolve) => {
    const take = (message: Decoded): void => {
      // The answers to Hello and RequestName, in this order.
      if (message.type === RETURN && message.replyTo === 2) return resolve();
      if (message.type !== CALL || message.member === undefined) return;
      const reply = { replyTo: message.serial, destination: message.sender ?? "" };
      if (message.member === "Notify") {
        const [app, , , summary, body, , hints] = message.body;
        shown.push({ app, summary, body, hints: Object.fromEntries(hints as [string, unknown][]) });
        send({ type: RETURN, ...reply, signature: "u", body: u32(shown.length) });
      } else if (message.member === "GetServerInformation") {
        const texts = ["test", "reeve", "1", "1.2"];
        send({ type: RETURN, ...reply, signature: "ssss", body: texts.reduce((all, one) => text(all, one), EMPTY) });
      } else if (message.member === "GetCapabilities") {
        send({ type: RETURN, ...reply, signature: "as", body: u32(0) });
      } else {
        send({ type: ERROR, ...reply, error: "org.freedesktop.DBus.Error.UnknownMethod", signature: "", body: EMPTY });
      }
    };
    socket.on("data", (bytes: Buffer) => {
      buffer = Buffer.concat([buffer, bytes]);
      if (!isGreeted) {
        const end = buffer.indexOf("\r\n");
        if (end === -1) return;
        buffer = buffer.subarray(end + 2);
        isGreeted = true;
        const bus = { path: "/org/freedesktop/DBus", interface: "org.freedesktop.DBus" };
        const call = { type: CALL, destination: "org.freedesktop.DBus", ...bus };
        send({ ...call, member: "Hello", signature: "", body: EMPTY });
        const name = text(EMPTY, "org.freedesktop.Notifications");
        const body = Buffer.concat([name, pad(name.length, 4), u32(0)]);
        send({ ...call, member: "RequestName", signature: "su", body });
      }
      for (let length = lengthOf(buffer); length !== null && buffer.length >= length; length = lengthOf(buffer)) {
        take(decode(buffer.subarray(0, length)));
        buffer = buffer.subarray(length);
      }
    });
  });
}

const CALL = 1;
const RETURN = 2;
const ERROR = 3;
const EMPTY: Buffer = Buffer.alloc(0);

interface Message {
  readonly type: number;
  readonly path?: string;
  readonly interface?: string;
  readonly member?: string;
  readonly error?: string;
  readonly replyTo?: number;
  readonly destination: string;
  readonly signature: string;
  readonly body: Buffer;
}

interface Decoded {
  readonly type: number;
  readonly serial: number;
  readonly member: string | undefined;
  readonly replyTo: number | undefined;
  readonly sender: string | undefined;
  readonly body: readonly unknown[];
}

/** By their codes, with the types of their values. */
const FIELDS = { path: 1, interface: 2, member: 3, error: 4, replyTo: 5, destination: 6, signature: 8 } as const;
const TYPES: Readonly<Record<number, string>> = { 1: "o", 5: "u", 8: "g" };

function encode(message: Message & { readonly serial: number }): Buffer {
  let fields = EMPTY;
  for (const [name, code] of Object.entries(FIELDS)) {
    const value = message[name as keyof typeof FIELDS];
    if (value === undefined || value === "") continue;
    const type = TYPES[code] ?? "s";
    fields = Buffer.concat([fields, pad(fields.length, 8), Buffer.from([code, 1, type.charCodeAt(0), 0])]);
    if (typeof value === "number") fields = Buffer.concat([fields, u32(value)]);
    else if (type === "g") fields = Buffer.concat([fields, Buffer.from([value.length]), Buffer.from(`${value}\0`)]);
    else fields = text(fields, value);
  }
  const head = Buffer.concat([
    Buffer.from(["l".charCodeAt(0), message.type, 0, 1]),
    u32(message.body.length),
    u32(message.serial),
    u32(fields.length),
    fields,
  ]);
  return Buffer.concat([head, pad(head.length, 8), message.body]);
}

function u32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
}

/** After what stands before it, aligned. */
function text(before: Buffer, value: string): Buffer {
  const bytes = Buffer.from(value);
  return Buffer.concat([before, pad(before.length, 4), u32(bytes.length), bytes, Buffer.from([0])]);
}

function pad(at: number, to: number): Buffer {
  return Buffer.alloc((to - (at % to)) % to);
}

function lengthOf(buffer: Buffer): number | null {
  if (buffer.length < 16) return null;
  const head = 16 + buffer.readUInt32LE(12);
  return head + pad(head, 8).length + buffer.readUInt32LE(4);
}

function decode(bytes: Buffer): Decoded {
  const reader = createReader(bytes, 12);
  const fields = new Map(reader.read("a(yv)") as [number, unknown][]);
  reader.align(8);
  const body: unknown[] = [];
  for (let rest = (fields.get(8) as string | undefined) ?? ""; rest !== "";) {
    const one = firstType(rest);
    body.push(reader.read(one));
    rest = rest.slice(one.length);
  }
  return {
    type: bytes[1] ?? 0,
    serial: bytes.readUInt32LE(8),
    member: fields.get(3) as string | undefined,
    replyTo: fields.get(5) as number | undefined,
    sender: fields.get(7) as string | undefined,
    body,
  };
}

const SIZES: Readonly<Record<string, number>> = { y: 1, n: 2, q: 2, b: 4, i: 4, u: 4, x: 8, t: 8, d: 8, h: 4 };

function createReader(bytes: Buffer, start: number) {
  let at = start;
  const align = (to: number): void => void (at += pad(at, to).length);
  const number = (size: number): number => {
    align(size);
    const value = size === 8 ? Number(bytes.readBigInt64LE(at)) : bytes.readUIntLE(at, size);
    at += size;
    return value;
  };
  const words = (length: number): string => {
    const value = bytes.toString("utf8", at, at + length);
    at += length + 1;
    return value;
  };
  const read = (type: string): unknown => {
    const [code = ""] = type;
    if (code in SIZES) return number(SIZES[code] ?? 0);
    if (code === "s" || code === "o") return words(number(4));
    if (code === "g") return words(number(1));
    if (code === "v") return read(words(number(1)));
    if (code === "a") {
      const length = number(4);
      const element = type.slice(1);
      align(/^[({xtd]/.test(element) ? 8 : (SIZES[element[0] ?? ""] ?? 1));
      const items: unknown[] = [];
      const end = at + length;
      const isLeft = (): boolean => at < end;
      while (isLeft()) items.push(read(element));
      return items;
    }
    align(8);
    const items: unknown[] = [];
    for (let rest = type.slice(1, -1); rest !== "";) {
      const one = firstType(rest);
      items.push(read(one));
      rest = rest.slice(one.length);
    }
    return items;
  };
  return { read, align };
}

/** The first whole type of a signature. */
function firstType(signature: string): string {
  const [code = ""] = signature;
  if (code === "a") return `a${firstType(signature.slice(1))}`;
  if (code !== "(" && code !== "{") return code;
  let depth = 0;
  const end = Array.from(signature).findIndex((one) => {
    if (one === "(" || one === "{") depth += 1;
    if (one === ")" || one === "}") depth -= 1;
    return depth === 0;
  });
  return signature.slice(0, end + 1);
}
