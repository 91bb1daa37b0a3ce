/**
 * `[memory]` of config.toml:
 *
 *     [memory]
 *     chroma = "http://127.0.0.1:8000"   # a Chroma server that finds memories by likeness, beside the words
 */
export interface MemorySettings {
  /** Null: there is none. */
  readonly chroma: string | null;
}

export const defaultMemorySettings: MemorySettings = { chroma: null };

export function parseMemorySettings(table: Readonly<Record<string, unknown>>): MemorySettings {
  const { chroma, ...others } = table;
  const [unknown] = Object.keys(others);
  if (unknown !== undefined) throw new Error(`there is no setting ${unknown} in [memory]`);
  return { chroma: chroma === undefined ? null : addressOf(chroma) };
}

function addressOf(value: unknown): string {
  const url = typeof value === "string" ? URL.parse(value) : null;
  if (url === null || !["http:", "https:"].includes(url.protocol))
    throw new Error('[memory] chroma must be the address of a server, such as "http://127.0.0.1:8000"');
  if (url.username !== "" || url.password !== "") throw new Error("[memory] chroma must hold no user or password");
  return url.href.replace(/\/+$/, "");
}
