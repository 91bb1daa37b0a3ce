/**
 * Puts a person's terminal into a session in a container: a program of its own,
 * which the CLI runs in that terminal. It needs no `docker` on the machine. Its
 * only argument is JSON: the engine's address, the container, the user inside
 * and what to run there.
 */
import type { Duplex } from "node:stream";
import { messageOf } from "../../platform/reeve-error.ts";
import type { EngineAddress } from "./engine-address.ts";
import { createEngineClient } from "./engine-client.ts";

interface Attachment {
  readonly address: EngineAddress;
  readonly container: string;
  readonly user: string;
  readonly argv: readonly string[];
}

/** tmux's own keys to leave. Without them the client inside would stay when its terminal is gone: the engine tells it nothing. */
const LEAVE = "\u0002d";
const GOODBYE_MS = 500;

const STREAMS = { AttachStdin: true, AttachStdout: true, AttachStderr: true, Tty: true };

const { address, container, user, argv } = JSON.parse(process.argv[2] ?? "{}") as Attachment;
const engine = createEngineClient(address);

async function attach(): Promise<number> {
  const environment = [`TERM=${process.env["TERM"] ?? "xterm-256color"}`, "LANG=C.UTF-8"];
  const made = await engine.demand("POST", `/containers/${container}/exec`, {
    body: { ...STREAMS, Cmd: argv, User: user, Env: environment },
  });
  const { Id: id } = made as { readonly Id: string };
  const socket = await engine.takeOver(`/exec/${id}/start`, { Detach: false, Tty: true });
  const resize = (): void => {
    const { columns, rows } = process.stdout;
    if (!process.stdout.isTTY) return;
    engine.ask("POST", `/exec/${id}/resize?h=${rows}&w=${columns}`).catch(() => undefined); // the next change tells it again
  };
  resize();
  process.stdout.on("resize", resize);
  if (process.stdin.isTTY) process.stdin.setRawMode(true);
  for (const signal of ["SIGHUP", "SIGTERM", "SIGINT"] as const) process.on(signal, () => leave(socket));
  process.stdin.on("error", () => leave(socket)).on("end", () => leave(socket));
  process.stdout.on("error", () => leave(socket));
  process.stdin.on("data", (bytes: Buffer) => socket.write(bytes));
  socket.on("data", (bytes: Buffer) => process.stdout.write(bytes));
  await new Promise<void>((resolve) => {
    socket
      .once("end", resolve)
      .once("close", resolve)
      .once("error", () => resolve());
  });
  const { body } = await engine.ask("GET", `/exec/${id}/json`);
  const { ExitCode: code } = body as { readonly ExitCode?: unknown };
  return typeof code === "number" ? code : 1;
}

function leave(socket: Duplex): void {
  socket.write(LEAVE);
  setTimeout(() => process.exit(129), GOODBYE_MS);
}

attach().then(
  (code) => {
    if (process.stdin.isTTY) process.stdin.setRawMode(false);
    process.exit(code);
  },
  (error: unknown) => {
    process.stderr.write(`${messageOf(error)}\n`);
    process.exit(69);
  },
);
