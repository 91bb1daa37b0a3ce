/**
 * Services that a repository says it uses: MCP servers in the agents' own files, and addresses of this machine in `.env`.
 * Pure. What is no address of this machine is left out: whether the internet is there is asked otherwise.
 */
import { type Fields, fieldsOf, parseFields, textOf } from "../../platform/json-fields.ts";

export interface FoundService {
  readonly name: string;
  readonly url: string;
}

/** Read where the session works, each if it is there. */
export const SERVICE_FILES = [".mcp.json", ".gemini/settings.json", ".codex/config.toml", ".env"] as const;

export function servicesIn(
  files: Readonly<Partial<Record<(typeof SERVICE_FILES)[number], string | null>>>,
): readonly FoundService[] {
  const found = [
    ...ofServers(fieldsOf(parseFields(files[".mcp.json"] ?? "")?.["mcpServers"])),
    ...ofServers(fieldsOf(parseFields(files[".gemini/settings.json"] ?? "")?.["mcpServers"])),
    ...ofCodex(files[".codex/config.toml"] ?? ""),
    ...ofVariables(files[".env"] ?? ""),
  ];
  const known = new Set<string>();
  return found.filter(({ url }) => isLocal(url) && !known.has(url) && known.add(url));
}

function ofServers(servers: Fields): readonly FoundService[] {
  return Object.entries(servers).flatMap(([name, server]) => {
    const url = textOf(fieldsOf(server)["url"]) ?? textOf(fieldsOf(server)["httpUrl"]);
    return url === null ? [] : [{ name, url }];
  });
}

/** `[mcp_servers.name]` with `url = "…"`; other TOML is none of this. */
function ofCodex(text: string): readonly FoundService[] {
  let name: string | null = null;
  return text.split(/\r?\n/).flatMap((line) => {
    const table = /^\s*\[([^\]]*)\]/.exec(line)?.[1];
    if (table !== undefined)
      name = /^mcp_servers\.(?:"([^"]+)"|([\w-]+))$/.exec(table.trim())?.slice(1).join("") ?? null;
    const url = /^\s*url\s*=\s*"([^"]+)"/.exec(line)?.[1];
    return name === null || url === undefined ? [] : [{ name, url }];
  });
}

/** `SOMETHING_URL=http://localhost:8000`; and CHROMA_HOST with CHROMA_PORT, as Chroma's clients have it. */
function ofVariables(text: string): readonly FoundService[] {
  const values = new Map<string, string>();
  for (const line of text.split(/\r?\n/)) {
    const [, name, value] = /^\s*(?:export\s+)?([A-Za-z_]\w*)\s*=\s*["']?([^"'\s#]*)/.exec(line) ?? [];
    if (name !== undefined && value !== undefined) values.set(name, value);
  }
  const addresses = [...values].flatMap(([name, url]) =>
    /^https?:\/\//.test(url) ? [{ name: name.toLowerCase().replace(/_(?:url|uri|endpoint|address)$/, ""), url }] : [],
  );
  const host = values.get("CHROMA_HOST");
  const port = values.get("CHROMA_PORT");
  if (host === undefined || port === undefined || host.includes("/")) return addresses;
  return [...addresses, { name: "chroma", url: `http://${host}:${port}` }];
}

function isLocal(url: string): boolean {
  if (!URL.canParse(url)) return false;
  const { protocol, hostname, username, password } = new URL(url);
  if (protocol !== "http:" && protocol !== "https:") return false;
  return username === "" && password === "" && /^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\]|0\.0\.0\.0)$/.test(hostname);
}

/** Where Chroma says that it is well; other services are asked as they are given. */
export function healthAddress({ name, url }: FoundService): string {
  const { pathname } = new URL(url);
  return name.toLowerCase().includes("chroma") && (pathname === "/" || pathname.startsWith("/api/"))
    ? new URL("/api/v2/heartbeat", url).href
    : url;
}
