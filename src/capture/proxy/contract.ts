/**
 * The contract between the daemon and the capture proxy, which is a process of its own so that killing the daemon does
 * not cut an agent off from its model.
 *
 * **Starting.** `node dist/capture-proxy.js --control <socket> --port <n>`, detached. One runs per home; the daemon, of
 * which there is one per home, starts it. `--control` is a path in the home's run directory, `--port` the port that the
 * last one had, or 0. The program prints exactly one line of JSON to stdout: `{"port":n,"pid":n}` when it serves both
 * addresses, or `{"error":{"code","message"}}` with exit status 1: `already-running` (another one answers at the control
 * socket: connect to it), `port-taken` (start it with port 0; sessions with the old address must be told), or
 * `cannot-listen`. Nothing is printed later. Give it `stdio: ["ignore", <a pipe or a file>, <a file>]`: a pipe may be
 * closed after the line. Its environment is not used for routes.
 *
 * **Ending.** By the command `stop`, or SIGTERM: it writes what it has recorded and exits with 0. It ends by itself when it
 * has had no route and no control connection for a minute, or when its control socket is gone and nothing is under way. When it is
 * killed, start it again with the same port and register the same routes: the agents' addresses stay the same. Agents see
 * a reset, and refused connections until then, and try again. What it had not written is missing then; the logs that it
 * had open still have their marks (open-mark.ts).
 *
 * **Control.** JSON lines over the control socket (0600), in both directions; any number of connections. A `Command` has
 * an `id`, its `Answer` the same. An `Observation` goes to every connection; what is observed while nobody is connected is
 * lost, except an outage of the recording, which is told again to each new connection. `control-client.ts` speaks it.
 *
 * **Requests** go to `http://127.0.0.1:<port>/<key>/<upstream name>/<rest>`; `routeAddress` makes that address. A route
 * with a `door` is also served at that unix socket, and nothing else is: the same requests, with the same `Host`.
 */

export interface Route {
  /** 32 random bytes as base64url (`newRouteKey`): who has it may reach this route's upstreams, and no other's. */
  readonly key: string;
  readonly sessionId: string;
  /** The session's directory, absolute. `session_oai_raw.log` is written there; null: nothing is recorded. */
  readonly directory: string | null;
  /** A unix socket (0600) at which this route alone is served, for a session that cannot reach the port; its directory is there. */
  readonly door?: string;
  /** Base URLs by name: http or https, perhaps with a path, without query or fragment. */
  readonly upstreams: Readonly<Record<string, string>>;
  /** Values that must not be recorded. */
  readonly secrets: readonly string[];
  /** The home's key for tags of secrets: any text, the same for all routes of a home. */
  readonly tagKey: string;
  readonly network: RouteNetwork;
  /** How large `session_oai_raw.log` and `session_oai_raw.log.1` may become together. */
  readonly capBytes: number;
  /** Response headers to be reported as limits beside `retry-after` and those with `ratelimit` in their name: lower case, `*` at the end for any rest. */
  readonly limitHeaders?: readonly string[];
  /** Messages that the model sends over a websocket, by their `type`, which are reported as they are. */
  readonly limitMessages?: readonly string[];
}

/** As the user has them for the session: values of HTTP_PROXY, HTTPS_PROXY, NO_PROXY, and a file of PEM certificates. */
export interface RouteNetwork {
  readonly httpProxy: string | null;
  readonly httpsProxy: string | null;
  readonly noProxy: string | null;
  readonly caFile: string | null;
}

export type Command =
  /** Also replaces the route with the same key: requests under way go on as they began, the next ones use the new one. */
  | { readonly id: number; readonly command: "register"; readonly route: Route }
  /** New requests with this key are refused; what is under way goes on. The log is closed when nothing is. */
  | { readonly id: number; readonly command: "unregister"; readonly key: string }
  | { readonly id: number; readonly command: "status" }
  /** Answered before it ends. */
  | { readonly id: number; readonly command: "stop" };

export type Answer =
  | { readonly id: number; readonly ok: true; readonly status: ProxyStatus }
  | { readonly id: number; readonly ok: false; readonly error: { readonly code: string; readonly message: string } };

export interface ProxyStatus {
  readonly pid: number;
  readonly port: number;
  readonly routes: readonly RouteStatus[];
}

export interface RouteStatus {
  readonly key: string;
  readonly sessionId: string;
  /** Under way right now. */
  readonly open: number;
  /** Begun since the route was registered with this process. */
  readonly exchanges: number;
  /** Lines that were not recorded. */
  readonly droppedLines: number;
  /** What keeps the log from being written right now, or null. */
  readonly outage: string | null;
}

/** Told as it happens. */
export type Observation = { readonly sessionId: string; readonly at: string } & (
  | {
      /** A response that says something of limits, or has status 429, 503 or 529. */
      readonly observed: "limits";
      readonly exchange: string;
      readonly upstream: string;
      readonly status: number;
      /** Names in lower case. */
      readonly headers: readonly (readonly [string, string])[];
    }
  /** A message of a websocket, JSON without the session's secrets, whose type is one of the route's `limitMessages`. */
  | { readonly observed: "limit-message"; readonly exchange: string; readonly message: string }
  /** Told once for each outage. The agent is not affected. */
  | { readonly observed: "cannot-record"; readonly path: string; readonly why: string }
  | { readonly observed: "recording-again"; readonly path: string; readonly droppedLines: number }
  /** An exchange that reached no upstream, or lost it. `code` as in the answer that the agent got. */
  | { readonly observed: "upstream-failed"; readonly exchange: string; readonly code: string; readonly message: string }
);

/** What goes from the proxy to the daemon. */
export type Told = Answer | Observation;

export function routeAddress(port: number, key: string, upstream: string): string {
  return `http://127.0.0.1:${port}/${key}/${upstream}`;
}
