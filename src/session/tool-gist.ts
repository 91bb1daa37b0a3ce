/** What a tool was called with, in few words: the command, the file, the address; else its input as it is. */
import { parseFields } from "../platform/json-fields.ts";

/** The names agents' tools give to what matters most of their input, the most telling first. */
const TELLING = [
  "command",
  "cmd",
  "file_path",
  "notebook_path",
  "absolute_path",
  "path",
  "dir_path",
  "pattern",
  "query",
  "url",
  "prompt",
  "description",
] as const;

export function toolGist(input: string): string {
  const fields = parsedFields(input);
  if (fields === null) return input;
  const [only, ...others] = fields.values();
  if (others.length === 0) return only === undefined ? "" : (textOf(only) ?? input);
  for (const name of TELLING) {
    const text = textOf(fields.get(name));
    if (text !== null) return text;
  }
  return input;
}

function parsedFields(input: string): ReadonlyMap<string, unknown> | null {
  const fields = parseFields(input);
  return fields === null ? null : new Map(Object.entries(fields));
}

/** A text, or an argument vector: `["bash", "-lc", "npm test"]` is what that shell is told to run. */
function textOf(value: unknown): string | null {
  if (typeof value === "string") return value.trim() === "" ? null : value;
  if (!Array.isArray(value) || value.length === 0 || !value.every((word) => typeof word === "string")) return null;
  const [program = "", flag = "", script] = value;
  const isShell = /(?:^|\/)(?:ba|z|da)?sh$/.test(program) && /^-l?c$/.test(flag) && value.length === 3;
  return isShell && script !== undefined ? script : value.join(" ");
}
