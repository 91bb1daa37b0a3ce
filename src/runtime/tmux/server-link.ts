/**
 * Connects to our tmux server: one control connection, made when it is needed
 * and again when it is lost. Decides whether the server is there, gone, or
 * cannot be asked. Starts a server only if none can be running.
 */
import { statSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import type { Clock } from "../../platform/clock.ts";
import { isUnreadable, sendSignal } from "../../platform/process-table.ts";
import { errnoOf, messageOf, ReeveError } from "../../platform/reeve-error.ts";
import { endAbandonedClients, endClientsInTheWay } from "./abandoned-clients.ts";
import { openControlConnection, unreachable, type ControlConnection } from "../driver/control-connection.ts";
import { localTransport } from "./local-transport.ts";
import { askForNewSocket, rememberServerIn, type ServerIdentity } from "./remembered-server.ts";
import { retireServer } from "./retire-server.ts";
import { attachArguments, restoreAnchorArguments, serverEnvironment } from "../driver/server-config.ts";
import { requireStartable, startServer } from "./server-start.ts";
import { FACTS_COMMAND, parseFacts, type Reach, type ServerFacts } from "../driver/reach.ts";
import type { TmuxVersion } from "../driver/tmux-version.ts";
import { runOnce } from "./tmux-binary.ts";

export interface ServerLink {
  /** Asks without starting anything. */
  reach(): Promise<Reach>;
  /** Connected, if need be to a server started now; throws where one may be running but cannot be asked. */
  ensure(): Promise<Extract<Reach, { status: "connected" }>>;
  /** Throws what would keep a server from being started, where none runs yet; says which tmux it is. */
  requireStartable(): Promise<TmuxVersion>;
  /** Of the server that ran last, whether it can be asked or not; none where that is not known. */
  serverPids(): readonly number[];
  /** Has the server look for dead children it may have missed. */
  remindOfChildren(): void;
  /** Ends the server if one runs and nothing lives in it; throws what is in the way. */
  retire(): Promise<void>;
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
  /** After a silence in which nothing was lost. */
  readonly onRevived: () => void;
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
  const transport = localTransport(environment);
  const remembered = rememberServerIn(options.runDir, paths.socket);
  const closing = new AbortController();
  /** The newest connection; while it is open no other is made. */
  let connection: ControlConnection | null = null;
  /** Who is at its other end, once that has answered. */
  let facts: ServerFacts | null = null;
  let isExamined = false;
  let lastPid: number | null = null;
  let reaching: Promise<Reach> | null = null;
  let starting: Promise<Connected> | null = null;
  let isReconnecting = false;

  const reach = async (): Promise<Reach> => {
    if (closing.signal.aborted) return { status: "unreachable", evidence: "this runtime was closed" };
    if (connection?.isStalled === true) {
      examine(connection);
      return { status: "unreachable", evidence: "the tmux server does not answer" };
    }
    if (connection?.isOpen === true && facts !== null) {
      // The connection outlives its socket file, but nobody else could attach any more.
      if (isMissing(paths.socket)) heal();
      return { status: "connected", connection, server: facts };
    }
    reaching ??= probe()
      .catch(unproven)
      .finally(() => {
        reaching = null;
      });
    return reaching;
  };

  /** Is it the server that hangs, or only this connection? A plain client asks; the answer can wait. */
  const examine = (suspect: ControlConnection): void => {
    if (isExamined) return;
    isExamined = true;
    runOnce([paths.binary, "-u", "-N", "-S", paths.socket, "display-message", "-p", "here"], environment)
      .then((answer) => {
        if (answer.isOk && answer.output.trim() === "here" && suspect.isStalled)
          suspect.close("tmux answers others, but not here");
      })
      .catch(() => {})
      .finally(() => {
        isExamined = false;
      });
  };

  const heal = (): void => {
    try {
      const server = remembered.last();
      if (server === null || !askForNewSocket(server, paths.socket)) return;
      options.log("the tmux socket was missing; asked the server to create it again", { pid: server.pid });
    } catch (error) {
      options.log("the tmux socket is missing; the server could not be asked to create it again", {
        error: messageOf(error),
      });
    }
  };

  const probe = async (): Promise<Reach> => {
    if (connection?.isOpen === true) return greet(connection);
    const socket = isMissing(paths.socket) ? "missing" : await probeSocket(paths.socket);
    if (socket === "accepts") return attach();
    const server = remembered.living();
    if (server === null) return { status: "absent", evidence: goneEvidence(remembered.last()) };
    heal();
    reconnectSoon();
    const state = socket === "missing" ? "its socket file is missing" : "its socket does not answer";
    return { status: "unreachable", evidence: `the tmux server (process ${server.pid}) runs, but ${state}` };
  };

  const report = (error: unknown): void => options.log("the tmux server could not be looked at", { why: error });

  const attach = async (): Promise<Reach> => {
    const opened = openControlConnection({
      argv: attachArguments(paths),
      transport,
      clock: options.clock,
      onOutput: options.onOutput,
      onNotification: options.onNotification,
      onRevived: () => void reach().then(() => options.onRevived(), report),
    });
    connection = opened;
    facts = null;
    opened.closed
      .then((reason) => {
        if (closing.signal.aborted) return;
        options.onLost(reason);
        reconnectSoon();
      })
      .catch(report);
    return greet(opened);
  };

  /** Who is there? Asked again by a later look if the first answer did not come in time. */
  const greet = async (opened: ControlConnection): Promise<Reach> => {
    let found: ServerFacts | null;
    try {
      found = parseFacts((await opened.request([{ text: FACTS_COMMAND }])).replies[0]?.lines[0]);
    } catch (error) {
      return opened.isOpen
        ? { status: "unreachable", evidence: "the tmux server does not answer" }
        : afterFailedAttach(opened, error);
    }
    if (found === null) {
      opened.close("tmux answered something unknown");
      return { status: "unreachable", evidence: "tmux answered something unknown" };
    }
    facts = found;
    try {
      remembered.write(found.pid);
    } catch (error) {
      // Known in memory all the same; only the next daemon would have to ask instead of know.
      options.log("the tmux server could not be remembered on disk", { error: messageOf(error) });
    }
    const isOtherServer = lastPid !== found.pid;
    lastPid = found.pid;
    endAbandonedClients(opened, paths).then(
      (ended) => ended > 0 && options.log("ended control clients that a killed daemon left behind", { ended }),
      () => {}, // lost again: the next connection looks again
    );
    options.onConnected(found, isOtherServer);
    return { status: "connected", connection: opened, server: found };
  };

  const afterFailedAttach = async (opened: ControlConnection, error: unknown): Promise<Reach> => {
    const reason = error instanceof ReeveError ? String(error.details["reason"]) : messageOf(error);
    if (remembered.living() === null) return { status: "absent", evidence: goneEvidence(remembered.last()) };
    if (reason.includes("can't find session") || reason.includes("no sessions")) {
      await runOnce(restoreAnchorArguments(paths), environment);
      options.log("the anchor session was gone from the tmux server; put it back");
    } else {
      await opened.closed;
      const ended = endClientsInTheWay(paths);
      if (ended > 0) {
        options.log("ended control clients that keep the tmux server from ending", { ended });
        if (await isGoneSoon()) return { status: "absent", evidence: goneEvidence(remembered.last()) };
      }
    }
    reconnectSoon();
    return { status: "unreachable", evidence: reason };
  };

  /** A server that waited for its last client ends within milliseconds. */
  const isGoneSoon = async (): Promise<boolean> => {
    for (const ms of [10, 20, 50, 100, 200, 400]) {
      await options.clock.sleep(ms, closing.signal);
      if (remembered.living() === null) return true;
    }
    return false;
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
    async requireStartable() {
      const reached = await reach();
      // One that runs and does not answer was started all the same.
      return reached.status === "connected" ? reached.server.version : requireStartable(paths, environment);
    },
    serverPids() {
      try {
        const server = remembered.last();
        return server === null ? [] : [server.pid];
      } catch {
        return []; // it carries no mark, and is found by nothing else
      }
    },
    remindOfChildren() {
      const server = remembered.last();
      if (server !== null) sendSignal(server.pid, server.startTicks, "SIGCHLD");
    },
    async retire() {
      const reached = await reach();
      if (reached.status === "unreachable") throw unreachable(reached.evidence);
      const server = remembered.living();
      if (reached.status === "connected" && server !== null)
        await retireServer(reached.connection, server, options.clock);
    },
    async close() {
      closing.abort();
      connection?.close("this runtime was closed");
      if (connection !== null) await Promise.race([connection.closed, options.clock.sleep(GOODBYE_MS)]);
    },
  };
}

/** A client that works ends within milliseconds. */
const GOODBYE_MS = 1_000;

function goneEvidence(server: ServerIdentity | null): string {
  if (server === null) return NEVER_STARTED;
  return `the tmux server (process ${server.pid}) is gone, and everything in it with it`;
}

/** Only what is proven: a path that could not be looked at may hold a socket all the same. */
function isMissing(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false }) === undefined;
  } catch {
    return false;
  }
}

/** Something that the judgement needs could not be read: no judgement. */
function unproven(error: unknown): Reach {
  const reason = isUnreadable(error) ? String(error.details["reason"]) : messageOf(error);
  return { status: "unreachable", evidence: `whether the tmux server runs could not be read: ${reason}` };
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
