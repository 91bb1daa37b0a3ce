/**
 * Connects to the tmux server of one box: one control connection over one
 * stream, made when it is needed and again when it is lost. It can say that the
 * server answers, or that it does not; whether the box is still there is for
 * the runtime that made it to say.
 */
import type { Clock } from "../../platform/clock.ts";
import { messageOf, ReeveError } from "../../platform/reeve-error.ts";
import { type ControlConnection, openControlConnection } from "../driver/control-connection.ts";
import { FACTS_COMMAND, parseFacts, type Reach, type ServerFacts } from "../driver/reach.ts";
import type { Transport } from "../transport.ts";
import { controlArguments } from "./box-config.ts";

export interface BoxLink {
  reach(): Promise<Reach>;
  /** The next connection is made over this, where a control client runs already or is about to. */
  offer(transport: Transport): void;
  /** The box is gone, or another one has its place. */
  drop(why: string): void;
  close(): Promise<void>;
}

export interface BoxLinkParts {
  /** How programs are run in the box; rejects where that is not possible now. */
  readonly transport: () => Promise<Transport>;
  readonly clock: Clock;
  readonly log: (message: string, fields?: object) => void;
  readonly onOutput: (paneId: string, bytes: Buffer) => void;
  readonly onNotification: (name: string, rest: string) => void;
  readonly onConnected: (server: ServerFacts) => void;
  readonly onLost: (reason: string) => void;
}

/** Quick at first; a box whose engine is being restarted comes back within seconds. Then `list` takes over. */
const RECONNECT_AFTER_MS = [50, 200, 600, 2_000, 5_000] as const;
const GOODBYE_MS = 1_000;

export function createBoxLink(parts: BoxLinkParts): BoxLink {
  const closing = new AbortController();
  let connection: ControlConnection | null = null;
  let facts: ServerFacts | null = null;
  let reaching: Promise<Reach> | null = null;
  let isReconnecting = false;
  let gone: string | null = null;
  let offered: Transport | null = null;
  /** One that was made over what was offered: whether its client still lives is not told by its stream. */
  let unsure: ControlConnection | null = null;

  const reach = async (): Promise<Reach> => {
    if (gone !== null) return { status: "absent", evidence: gone };
    if (closing.signal.aborted) return { status: "unreachable", evidence: "this runtime was closed" };
    if (connection?.isStalled === true && connection !== unsure) return notAnswering();
    if (connection?.isOpen === true && facts !== null && !connection.isStalled)
      return { status: "connected", connection, server: facts };
    reaching ??= attach()
      .catch(notReached)
      .finally(() => (reaching = null));
    return reaching;
  };

  const attach = async (): Promise<Reach> => {
    const opened = connection?.isOpen === true && !connection.isStalled ? connection : await connect();
    const found = parseFacts((await opened.request([{ text: FACTS_COMMAND }])).replies[0]?.lines[0]);
    if (found === null) {
      opened.close("tmux answered something unknown");
      return { status: "unreachable", evidence: "tmux answered something unknown" };
    }
    facts = found;
    // Only now: tmux 3.3a takes it badly if a client leaves while another is coming (control-connection.ts).
    if (unsure !== opened) {
      unsure?.close("another connection took its place");
      unsure = null;
    }
    detachOthers(opened).catch(() => undefined); // lost again: the next connection does it
    parts.onConnected(found);
    return { status: "connected", connection: opened, server: found };
  };

  const connect = async (): Promise<ControlConnection> => {
    const own = offered;
    offered = null;
    const transport = own ?? (await parts.transport());
    const opened = openControlConnection({
      argv: controlArguments(),
      transport,
      clock: parts.clock,
      onOutput: parts.onOutput,
      onNotification: parts.onNotification,
      onRevived: () => void reach(),
    });
    connection = opened;
    if (own !== null) unsure = opened;
    facts = null;
    void opened.closed.then((reason) => {
      if (closing.signal.aborted || connection !== opened) return;
      parts.onLost(reason);
      reconnectSoon();
    });
    return opened;
  };

  /** Control clients that an earlier connection left: some engines do not end them with it. */
  const detachOthers = async (opened: ControlConnection): Promise<void> => {
    const own = (await opened.request([{ text: 'display-message -p "#{client_name}"' }])).replies[0]?.lines[0];
    const format = '"client #{client_control_mode} #{client_name}"';
    const { replies } = await opened.request([{ text: `list-clients -F ${format}` }]);
    for (const line of replies[0]?.lines ?? []) {
      const name = /^client 1 (client-\d+)$/.exec(line)?.[1];
      if (name !== undefined && name !== own) await opened.request([{ text: `detach-client -t ${name}` }]);
    }
  };

  const reconnectSoon = (): void => {
    if (isReconnecting || closing.signal.aborted) return;
    isReconnecting = true;
    const attempt = async (): Promise<void> => {
      for (const ms of RECONNECT_AFTER_MS) {
        await parts.clock.sleep(ms, closing.signal);
        if ((await reach()).status === "connected") return;
      }
    };
    attempt()
      .catch(() => undefined) // closed while waiting
      .finally(() => (isReconnecting = false));
  };

  return {
    reach,
    offer: (transport) => void (offered = transport),
    drop(why) {
      gone = why;
      closing.abort();
      connection?.close(why);
    },
    async close() {
      closing.abort();
      connection?.close("this runtime was closed");
      if (connection !== null) await Promise.race([connection.closed, parts.clock.sleep(GOODBYE_MS)]);
    },
  };
}

function notAnswering(): Reach {
  return { status: "unreachable", evidence: "the tmux server in its container does not answer" };
}

/** `place-absent` is proven: whoever knows of boxes said that there is none. */
function notReached(error: unknown): Reach {
  const isAbsent = error instanceof ReeveError && error.code === "place-absent";
  return { status: isAbsent ? "absent" : "unreachable", evidence: reasonOf(error) };
}

function reasonOf(error: unknown): string {
  if (!(error instanceof ReeveError)) return messageOf(error);
  const { reason } = error.details;
  return typeof reason === "string" ? reason : error.message;
}
