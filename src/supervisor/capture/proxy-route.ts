/** What the capture proxy is told of a session: pure. */
import type { Agent } from "../../agent/contract.ts";
import type { Route, RouteNetwork } from "../../capture/proxy/contract.ts";
import { RAW_LOG_BYTES } from "../../session/persistence.ts";
import type { Session } from "../../session/session.ts";
import { isEnded } from "../../session/session.ts";
import { wantsProxy } from "../launch/wants-proxy.ts";

type Environment = Readonly<Record<string, string>>;

/** Whether its agent was told to reach its model by the proxy. */
export function isProxied({ identity, watch }: Session): boolean {
  return wantsProxy(identity.launch) && Object.keys(watch.capture?.upstreams ?? {}).length > 0;
}

/** Whether what passes is recorded, too. */
export function isRecorded({ identity }: Session): boolean {
  return identity.launch.persistence?.capture === "proxy";
}

/** Its agent lives, or is about to: the proxy must serve it. */
export function needsProxy(session: Session): boolean {
  if (!isProxied(session) || isEnded(session) || session.process.exit !== null) return false;
  return session.process.place !== null || session.state === "starting";
}

export function routeOf(
  session: Session,
  agent: Pick<Agent, "caVariables" | "limitHeaders" | "limitMessages">,
  given: {
    readonly environment: Environment;
    readonly secrets: readonly string[];
    readonly key: string;
    readonly tagKey: string;
    /** For a session in a container. */
    readonly door: string | null;
  },
): Route {
  return {
    key: given.key,
    sessionId: session.id,
    directory: isRecorded(session) ? session.identity.outputsDir : null,
    ...(given.door === null ? {} : { door: given.door }),
    upstreams: session.watch.capture?.upstreams ?? {},
    secrets: given.secrets,
    tagKey: given.tagKey,
    network: networkOf(given.environment, agent.caVariables ?? []),
    capBytes: RAW_LOG_BYTES,
    limitHeaders: agent.limitHeaders ?? [],
    limitMessages: agent.limitMessages ?? [],
  };
}

/** The lower-case spelling counts first, as in curl. */
function networkOf(environment: Environment, caVariables: readonly string[]): RouteNetwork {
  const first = (...names: readonly string[]): string | null =>
    names.map((name) => environment[name] ?? "").find((value) => value !== "") ?? null;
  const all = first("all_proxy", "ALL_PROXY");
  return {
    httpProxy: first("http_proxy", "HTTP_PROXY") ?? all,
    httpsProxy: first("https_proxy", "HTTPS_PROXY") ?? all,
    noProxy: first("no_proxy", "NO_PROXY"),
    caFile: first(...caVariables, "NODE_EXTRA_CA_CERTS", "SSL_CERT_FILE"),
  };
}
