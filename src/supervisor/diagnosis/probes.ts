/** What is tried for a session, layer by layer. Pure. */
import { isIP } from "node:net";
import type { ProbeRequest } from "../../platform/probe.ts";
import { type FoundService, healthAddress } from "../../session/diagnosis/found-services.ts";

export interface Probe {
  /** A short name: `reeve`, `model api`, `git remote`, … */
  readonly layer: string;
  readonly native: ProbeRequest;
  /** Where that differs inside, such as by the capture proxy. */
  readonly session: ProbeRequest;
}

export interface ProbeFacts {
  /** Where the daemon takes calls of sessions. */
  readonly socket: string | null;
  readonly cwd: string | null;
  /** The model's addresses by name, with the one that the session uses in its place. */
  readonly upstreams: readonly { readonly name: string; readonly url: string; readonly inside: string }[];
  /** Of git; null where there is none. */
  readonly remote: string | null;
  /** Whether git of this machine may be run in the session's directory. */
  readonly isOwnGround: boolean;
  readonly services: readonly FoundService[];
}

export function probesOf({ socket, cwd, upstreams, remote, isOwnGround, services }: ProbeFacts): readonly Probe[] {
  const hosts = [...upstreams.map(({ url }) => url), remote ?? ""].map(hostOf).filter((host) => host !== null);
  return [
    ...(socket === null ? [] : [both("reeve", { kind: "socket", path: socket })]),
    ...upstreams.map(({ url, inside }) => ({
      layer: "model api",
      native: { kind: "http" as const, url, wants: "any" as const },
      session: { kind: "http" as const, url: inside, wants: "any" as const },
    })),
    ...services.map((service) => both(service.name, requestOf(service))),
    ...(cwd === null || remote === null ? [] : [gitRemote(cwd, remote, isOwnGround)]),
    ...(remote !== null && /\bgithub\./.test(remote) ? [gitHub()] : []),
    ...[...new Set(hosts)].slice(0, 2).map((host) => both(`dns ${host}`, { kind: "name", host })),
    ...(cwd === null ? [] : [both("disk", { kind: "write", path: cwd })]),
  ];
}

export function gitHub(): Probe {
  // Not `gh auth status`, which takes a sandbox without network for a log-in that has expired.
  return both("github", { kind: "program", argv: ["gh", "api", "user", "--silent"], cwd: "/" });
}

function requestOf(service: FoundService): ProbeRequest {
  const url = healthAddress(service);
  const { protocol, hostname, port } = new URL(url);
  if (protocol === "tcp:") return { kind: "tcp", host: hostname.replace(/^\[|\]$/g, ""), port: Number(port) };
  return { kind: "http", url, wants: "found" };
}

/** By its name in the checkout; where that is a container's, by its address alone, so that no setting in it is used. */
function gitRemote(cwd: string, remote: string, isOwnGround: boolean): Probe {
  const within: ProbeRequest = { kind: "program", argv: ["git", "ls-remote", "--quiet", "origin", "HEAD"], cwd };
  if (isOwnGround) return both("git remote", within);
  const byAddress: ProbeRequest = {
    kind: "program",
    argv: ["git", "ls-remote", "--quiet", "--", remote, "HEAD"],
    cwd: "/",
  };
  return { layer: "git remote", native: byAddress, session: within };
}

/** Null where there is no name to look up. */
function hostOf(address: string): string | null {
  const scp = /^[^/:]+@([^/:]+):/.exec(address)?.[1];
  const host = scp ?? (URL.canParse(address) ? new URL(address).hostname : "");
  return host === "" || host === "localhost" || isIP(host.replace(/^\[|\]$/g, "")) !== 0 ? null : host;
}

function both(layer: string, request: ProbeRequest): Probe {
  return { layer, native: request, session: request };
}
