/**
 * The way to our tmux server: one control connection, made when needed, made
 * again when lost. Owns the judgement whether the server is there, gone, or
 * merely cannot be asked. Starts a server only where none can be running.
 */
import { existsSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import type { Clock } from "../../platform/clock.ts";
import { sendSignal } from "../../platform/process-table.ts";
import { errnoOf, messageOf, ReeveError } from "../../platform/reeve-error.ts";
import { endAbandonedClients } from "./abandoned-clients.ts";
import { openControlConnection, unreachable, type ControlConnection } from "./control-connection.ts";
import { askForNewSocket, isServerAlive, rememberServerIn, type ServerIdentity } from "./remembered-server.ts";
import { attachArguments, restoreAnchorArguments, serverEnvironment } from "./server-config.ts";
import { startServer } from "./server-start.ts";
import { parseVersion, runOnce, type TmuxVersion } from "./tmux-binary.ts";

export type Reach =
  | { readonly status: "connected"; readonly connection: ControlConnection; readonly server: ServerFacts }
  | { readonly status: "absent"; readonly evidence: string }
  | { readonly status: "unreachable"; readonly evidence: string };

export interface ServerFacts {
  readonly pid: number;
  readonly version: TmuxVersion;
}

export interface ServerLink {
  /** Asks without starting anything. */
  reach(): Promise<Reach>;
  /** Connected, if need be to a server started now; throws where one may be running but cannot be asked. */
  ensure(): Promise<Extract<Reach, { status: "connected" }>>;
  /** Has the server look for dead children it may have missed. */
  remindOfChildren(): void;
  close(): Promise<void>;
}

export interface LinkOptions {
  readonly instance: string;
  readonly runDir: string;
  readonly binary: string;
  readonly clock: Clock;
  readonly log: (message: string, fields?: object) => void;
  readonly onOutput: (paneId: string, bytes: Buffer) => void;
  readonly onNotification: (name: string, rest: string) => void;
  /** After each new connection, and after each loss of one. */
  readonly onConnected: (server: ServerFacts, isOtherServer: boolean) => void;
  readonly onLost: (reason: string) => void;
}

/** Quick at first, for a socket that comes back in milliseconds; then `list` takes over. */
const RECONNECT_AFTER_MS = [20, 60, 200, 600, 2_000, 5_000] as const;
const NEVER_STARTED = "no tmux server was ever started here";

type Connected = Extract<Reach, { status: "connected" }>;

export function createServerLink(options: LinkOptions): ServerLink {
  const paths = {
    binary: options.binary,
    socket: join(options.runDir, "tmux.sock"),
    config: join(options.runDir, "tmux.conf"),
  };
  const environment = serverEnvironment(process.env);
  const remembered = rememberServerIn(options.runDir);
  const closing = new AbortController();
  let current: Connected | null = null;
  /** Resolves when the client of the newest connection has ended; until then no other may be opened. */
  let lastClient: Promise<string> | null = null;
  let lastPid: number | null = null;
  let reaching: Promise<Reach> | null = null;
  let starting: Promise<Connected> | null = null;
  let isReconnecting = false;

  const reach = async (): Promise<Reach> => {
    if (closing.signal.aborted) return { status: "unreachable", evidence: "this runtime was closed" };
    if (current?.connection.isOpen === true) {
      // The connection outlives its socket file, but nobody else could attach any more.
      if (!existsSync(paths.socket)) heal();
      return current;
    }
    reaching ??= probe().finally(() => {
      reaching = null;
    });
    return reaching;
  };

  const heal = (): void => {
    const server = remembered.read();
    if (server === null || !askForNewSocket(server, paths.socket)) return;
    options.log("the tmux socket was missing; asked the server to make it anew", { pid: server.pid });
  };

  const probe = async (): Promise<Reach> => {
    const server = remembered.read();
    const socket = existsSync(paths.socket) ? await probeSocket(paths.socket) : "missing";
    if (socket === "accepts") return attach();
    if (server === null) return { status: "absent", evidence: NEVER_STARTED };
    if (!isServerAlive(server)) return { status: "absent", evidence: goneEvidence(server) };
    heal();
    reconnectSoon();
    const state = socket === "missing" ? "its socket file is missing" : "its socket does not answer";
    return { status: "unreachable", evidence: `the tmux server (process ${server.pid}) runs, but ${state}` };
  };

  const attach = async (): Promise<Reach> => {
    if (lastClient !== null && !(await settlesWithin(lastClient, GOODBYE_MS, options.clock))) {
      reconnectSoon();
      return { status: "unreachable", evidence: "the tmux server does not answer; it has not yet let go of the last connection" };
    }
    const connection = openControlConnection({
      argv: attachArguments(paths),
      environment,
      clock: options.clock,
      onOutput: options.onOutput,
      onNotification: options.onNotification,
    });
    lastClient = connection.closed;
    let facts: ServerFacts | null;
    try {
      facts = parseFacts((await connection.request([{ text: FACTS_COMMAND }])).replies[0]?.lines[0]);
    } catch (error) {
      return afterFailedAttach(error);
    }
    if (facts === null) {
      connection.close("tmux answered something unknown");
      return { status: "unreachable", evidence: "tmux answered something unknown" };
    }
    try {
      remembered.write(facts.pid);
    } catch (error) {
      // Known in memory all the same; only the next daemon would have to ask instead of know.
      options.log("the tmux server could not be remembered on disk", { error: messageOf(error) });
    }
    const connected: Connected = { status: "connected", connection, server: facts };
    current = connected;
    const isOtherServer = lastPid !== facts.pid;
    lastPid = facts.pid;
    void connection.closed.then((reason) => {
      if (closing.signal.aborted) return;
      options.onLost(reason);
      reconnectSoon();
    });
    endAbandonedClients(connection, paths).then(
      (ended) => ended > 0 && options.log("ended control clients that a killed daemon left behind", { ended }),
      () => {}, // lost again: the next connection looks again
    );
    options.onConnected(facts, isOtherServer);
    return connected;
  };

  const afterFailedAttach = async (error: unknown): Promise<Reach> => {
    const reason = error instanceof ReeveError ? String(error.details["reason"]) : messageOf(error);
    const server = remembered.read();
    if (server !== null && !isServerAlive(server)) return { status: "absent", evidence: goneEvidence(server) };
    if (reason.includes("can't find session") || reason.includes("no sessions")) {
      await runOnce(restoreAnchorArguments(paths), environment);
      options.log("the anchor session was gone from the tmux server; put it back");
    }
    reconnectSoon();
    return { status: "unreachable", evidence: reason };
  };

  const reconnectSoon = (): void => {
    if (isReconnecting || closing.signal.aborted) return;
    isReconnecting = true;
    const attempt = async (): Promise<void> => {
      for (const ms of RECONNECT_AFTER_MS) {
        await options.clock.sleep(ms, closing.signal);
        if ((await reach()).status !== "unreachable") return;
      }
    };
    attempt()
      .catch(() => {}) // closed while waiting
      .finally(() => {
        isReconnecting = false;
      });
  };

  const start = async (): Promise<Connected> => {
    await startServer({ paths, environment, instance: options.instance, log: options.log });
    const reached = await reach();
    if (reached.status !== "connected") throw unreachable(reached.evidence);
    options.log("started a tmux server", { pid: reached.server.pid });
    return reached;
  };

  return {
    reach,
    async ensure() {
      const reached = await reach();
      if (reached.status === "connected") return reached;
      if (reached.status === "unreachable") throw unreachable(reached.evidence);
      starting ??= start().finally(() => {
        starting = null;
      });
      return starting;
    },
    remindOfChildren() {
      const server = remembered.read();
      if (server !== null) sendSignal(server.pid, server.startTicks, "SIGCHLD");
    },
    async close() {
      closing.abort();
      current?.connection.close("this runtime was closed");
      if (lastClient !== null) await settlesWithin(lastClient, GOODBYE_MS, options.clock);
    },
  };
}

/** A client and a server that work part within milliseconds. */
const GOODBYE_MS = 1_000;

async function settlesWithin(promise: Promise<unknown>, ms: number, clock: Clock): Promise<boolean> {
  const timeUp = new AbortController();
  const late = clock.sleep(ms, timeUp.signal).then(
    () => false,
    () => true,
  );
  const inTime = promise.then(() => true);
  const settled = await Promise.race([inTime, late]);
  timeUp.abort();
  return settled;
}

const FACTS_COMMAND = 'display-message -p "server #{pid} #{version}"';

function parseFacts(line: string | undefined): ServerFacts | null {
  const match = /^server (\d+) (\S+)$/.exec(line ?? "");
  const version = parseVersion(match?.[2] ?? "");
  return match === null || version === null ? null : { pid: Number(match[1]), version };
}

function goneEvidence(server: ServerIdentity): string {
  return `the tmux server (process ${server.pid}) is gone, and everything in it with it`;
}

/** A stale socket file refuses at once; a second without an answer means a server too busy to accept. */
function probeSocket(path: string): Promise<"accepts" | "refuses"> {
  return new Promise((resolve) => {
    const socket = connect(path);
    const finish = (answer: "accepts" | "refuses"): void => {
      socket.destroy();
      resolve(answer);
    };
    socket.setTimeout(1_000, () => finish("refuses"));
    socket.once("connect", () => finish("accepts"));
    // A full backlog (EAGAIN) is a server that lives.
    socket.once("error", (error) => finish(errnoOf(error) === "EAGAIN" ? "accepts" : "refuses"));
  });
}
