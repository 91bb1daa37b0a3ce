/**
 * `[docker]` of config.toml:
 *
 *     [docker]
 *     host = "unix:///run/user/1000/docker.sock"   # instead of DOCKER_HOST, the context, or the usual socket
 *     image = "reeve-session"                      # of sessions that name none; also in [role.<name>]
 *     memory = "4g"
 *     cpus = 2
 *     pids = 512                                   # how many processes a container may have
 *     network = "none"                             # or "proxy", or "full"
 *     workspaces = ["/home/me/src"]                # directories that sessions in containers may work in; by default any
 *
 *     [docker.upstreams]                           # what sessions with network "proxy" reach beside their agent's model
 *     registry = "https://registry.example.com"    # as $REEVE_UPSTREAM_REGISTRY
 */
import { NETWORKS, type Container } from "../../session/container.ts";
import { type NumberRange, parseNumberIn, quoted } from "./setting-value.ts";

export interface DockerSettings extends Omit<Container, "image" | "mounts"> {
  readonly host: string | null;
  readonly image: string | null;
  /** Empty: any. */
  readonly workspaces: readonly string[];
  /** Base URLs by name. */
  readonly upstreams: Readonly<Record<string, string>>;
}

/** What a container has if its start does not say, as a role has it; null: it is not said there. */
export interface ContainerDefaults {
  readonly memoryBytes: number | null;
  readonly cpus: number | null;
  readonly pids: number | null;
  readonly network: Container["network"] | null;
  /** Each as `SOURCE:TARGET` or `SOURCE:TARGET:ro`. */
  readonly mounts: readonly string[] | null;
}

export const defaultDockerSettings: DockerSettings = {
  host: null,
  image: null,
  cpus: null,
  memoryBytes: null,
  pids: null,
  network: "none",
  workspaces: [],
  upstreams: {},
};

export function parseDockerSettings(table: Readonly<Record<string, unknown>>): DockerSettings {
  const { host, image, memory, cpus, pids, network, workspaces, upstreams, ...others } = table;
  const [unknown] = Object.keys(others);
  if (unknown !== undefined) throw new Error(`there is no setting ${unknown} in [docker]`);
  const said = parseContainerDefaults("[docker]", { memory, cpus, pids, network });
  return {
    host: parseText("host", host),
    image: parseText("image", image),
    memoryBytes: said.memoryBytes,
    cpus: said.cpus,
    pids: said.pids,
    network: said.network ?? defaultDockerSettings.network,
    workspaces: parseDirectories(workspaces),
    upstreams: parseUpstreams(upstreams),
  };
}

/** `where`: the table, such as `[role.builder]`. */
export function parseContainerDefaults(
  where: string,
  { memory, cpus, pids, network, mounts, ...others }: Readonly<Record<string, unknown>>,
): ContainerDefaults {
  const [unknown] = Object.keys(others);
  if (unknown !== undefined) throw new Error(`there is no setting ${unknown} in ${where}`);
  return {
    memoryBytes: memory === undefined ? null : requireBytes(where, memory),
    cpus: cpus === undefined ? null : parseNumberIn(`${where} cpus`, cpus, CPUS),
    pids: pids === undefined ? null : parseNumberIn(`${where} pids`, pids, PIDS),
    network: network === undefined ? null : networkOf(where, network),
    mounts: mounts === undefined ? null : parseMounts(where, mounts),
  };
}

const UNITS = { "": 1, k: 2 ** 10, m: 2 ** 20, g: 2 ** 30, t: 2 ** 40 } as const;

/** An amount of memory such as `2g`; null where it is none. */
export function parseBytes(text: string): number | null {
  const [, amount, unit = ""] = /^(\d+(?:\.\d+)?)([kmgt]?)b?$/i.exec(text.trim()) ?? [];
  if (amount === undefined) return null;
  const bytes = Math.round(Number(amount) * UNITS[unit.toLowerCase() as keyof typeof UNITS]);
  return Number.isSafeInteger(bytes) && bytes > 0 ? bytes : null;
}

function requireBytes(where: string, value: unknown): number {
  const bytes = typeof value === "string" ? parseBytes(value) : null;
  if (bytes === null) throw new Error(`${where} memory must be an amount such as "2g"`);
  return bytes;
}

function parseText(name: string, value: unknown): string | null {
  if (value === undefined) return null;
  if (typeof value === "string" && value !== "") return value;
  throw new Error(`[docker] ${name} must be some text`);
}

/** No machine has more. */
const CPUS: NumberRange = { least: 0.01, most: 4_096 };
/** The kernel counts no further. */
const PIDS: NumberRange = { least: 1, most: 4_194_304, isWhole: true };

function networkOf(where: string, value: unknown): Container["network"] {
  const network = NETWORKS.find((known) => known === value);
  if (network !== undefined) return network;
  throw new Error(`${where} network must be one of ${quoted(NETWORKS)}`);
}

/** There is no directory that they could be relative to. */
function parseMounts(where: string, value: unknown): readonly string[] {
  const list: readonly unknown[] = Array.isArray(value) ? value : [value];
  if (list.every((text): text is string => typeof text === "string" && text.startsWith("/"))) return list;
  throw new Error(`${where} mounts must be a list such as ["/srv/cache:/cache:ro"], each with its full path`);
}

function parseUpstreams(value: unknown = {}): Readonly<Record<string, string>> {
  if (typeof value !== "object" || value === null || Array.isArray(value))
    throw new Error(
      '[docker.upstreams] must be a table of addresses, such as registry = "https://registry.example.com"',
    );
  const entries = Object.entries(value).map(([name, address]): [string, string] => {
    if (!/^[a-z][a-z0-9-]{0,39}$/.test(name))
      throw new Error(`[docker.upstreams] ${quoted([name])} is no name; use small letters, digits and "-"`);
    const url = typeof address === "string" ? URL.parse(address) : null;
    if (url === null || !/^https?:$/.test(url.protocol) || `${url.search}${url.hash}${url.username}` !== "")
      throw new Error(
        `[docker.upstreams] ${name} must be an http or https address without a password or a query, such as "https://registry.example.com"`,
      );
    return [name, String(address).replace(/\/+$/, "")];
  });
  return Object.fromEntries(entries);
}

function parseDirectories(value: unknown = []): readonly string[] {
  const list: readonly unknown[] = Array.isArray(value) ? value : [value];
  if (list.every((path): path is string => typeof path === "string" && path.startsWith("/"))) return list;
  throw new Error("[docker] workspaces must be a list of directories, each with its full path");
}
