/**
 * Where the Docker Engine is, by Docker's own rules: the setting, DOCKER_HOST,
 * the context that is chosen, and then the usual sockets, of Podman as well.
 * Reads files of the user; connects to nothing.
 */
import { createHash } from "node:crypto";
import { readFileSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { ReeveError } from "../../platform/reeve-error.ts";

export type EngineAddress = {
  /** For people: which rule found it. */
  readonly from: string;
  /** As DOCKER_HOST has it. */
  readonly url: string;
} & (
  | { readonly socketPath: string }
  | { readonly host: string; readonly port: number; readonly tls: EngineCertificates | null }
);

export interface EngineCertificates {
  readonly ca: Buffer | undefined;
  readonly cert: Buffer | undefined;
  readonly key: Buffer | undefined;
  readonly rejectUnauthorized: boolean;
}

export type AddressEnvironment = Readonly<Record<string, string | undefined>>;

const DEFAULT_SOCKET = "/var/run/docker.sock";
const DEFAULT_PORT = 2375;

/** `chosen`: what the settings say; null leaves it to the environment. Throws where that cannot be used. */
export function engineAddress(chosen: string | null, environment: AddressEnvironment): EngineAddress {
  if (chosen !== null) return parseAddress(chosen, "the settings", environment);
  const variable = environment["DOCKER_HOST"];
  if (variable !== undefined && variable !== "") return parseAddress(variable, "DOCKER_HOST", environment);
  const context = chosenContext(environment);
  if (context !== null) return parseAddress(context.host, `the Docker context ${context.name}`, environment);
  const usual = usualSockets(environment).find(isSocket) ?? DEFAULT_SOCKET;
  return { from: "the usual place", url: `unix://${usual}`, socketPath: usual };
}

function parseAddress(url: string, from: string, environment: AddressEnvironment): EngineAddress {
  if (url.startsWith("unix://")) return { from, url, socketPath: url.slice("unix://".length) };
  const [, scheme, host = "", port] = /^(tcp|http|https):\/\/(\[[0-9a-f:]+\]|[^/:]+)(?::(\d+))?\/?$/i.exec(url) ?? [];
  if (scheme === undefined)
    throw new ReeveError({
      code: "engine-address-invalid",
      kind: "config",
      message: `Reeve cannot reach a Docker Engine at "${url}" (from ${from}); give unix:///path/of/its.sock or tcp://host:port.`,
    });
  const verify = environment["DOCKER_TLS_VERIFY"];
  const wantsTls = scheme === "https" || (verify !== undefined && verify !== "");
  const tls = wantsTls ? certificates(environment, verify !== "0") : null;
  return { from, url, host: host.replace(/^\[|\]$/g, ""), port: Number(port ?? DEFAULT_PORT), tls };
}

function certificates(environment: AddressEnvironment, rejectUnauthorized: boolean): EngineCertificates {
  const directory = environment["DOCKER_CERT_PATH"] ?? dockerDirectory(environment);
  const file = (name: string): Buffer | undefined => {
    try {
      return readFileSync(join(directory, name));
    } catch {
      return undefined; // the connection says what is missing
    }
  };
  return { ca: file("ca.pem"), cert: file("cert.pem"), key: file("key.pem"), rejectUnauthorized };
}

/** Null for the default one, which has no file. */
function chosenContext(environment: AddressEnvironment): { readonly name: string; readonly host: string } | null {
  const directory = dockerDirectory(environment);
  const settings = readJson(join(directory, "config.json"));
  const name = environment["DOCKER_CONTEXT"] ?? textAt(settings, "currentContext") ?? "default";
  if (name === "" || name === "default") return null;
  const id = createHash("sha256").update(name).digest("hex");
  const meta = readJson(join(directory, "contexts", "meta", id, "meta.json"));
  const host = textAt(objectAt(objectAt(meta, "Endpoints"), "docker"), "Host");
  return host === null ? null : { name, host };
}

function dockerDirectory(environment: AddressEnvironment): string {
  return environment["DOCKER_CONFIG"] ?? join(environment["HOME"] ?? homedir(), ".docker");
}

/** The machine's engine, one without root, Docker Desktop's, and Podman's in the same two ways. */
function usualSockets(environment: AddressEnvironment): readonly string[] {
  const run = environment["XDG_RUNTIME_DIR"];
  const mine = run === undefined || run === "" ? [] : [join(run, "docker.sock"), join(run, "podman", "podman.sock")];
  const desktop = join(environment["HOME"] ?? homedir(), ".docker", "run", "docker.sock");
  return [DEFAULT_SOCKET, ...mine, desktop, "/run/podman/podman.sock"];
}

function isSocket(path: string): boolean {
  try {
    return statSync(path).isSocket();
  } catch {
    return false;
  }
}

function readJson(path: string): unknown {
  try {
    return JSON.parse(readFileSync(path, "utf8"));
  } catch {
    return null; // none, or not readable: then nothing is chosen by it
  }
}

function objectAt(value: unknown, key: string): unknown {
  return typeof value === "object" && value !== null ? (value as Readonly<Record<string, unknown>>)[key] : undefined;
}

function textAt(value: unknown, key: string): string | null {
  const found = objectAt(value, key);
  return typeof found === "string" ? found : null;
}
