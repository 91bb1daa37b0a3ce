// Reading values of unknown shape. What is missing or of another type reads as empty, never throws.

export type JsonObject = Readonly<Record<string, unknown>>;

export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function objectAt(value: unknown, key: string): JsonObject {
  const found = isObject(value) ? value[key] : undefined;
  return isObject(found) ? found : {};
}

export function listAt(value: unknown, key: string): readonly unknown[] {
  const found = isObject(value) ? value[key] : undefined;
  return Array.isArray(found) ? found : [];
}

export function textAt(value: unknown, key: string): string {
  const found = isObject(value) ? value[key] : undefined;
  return typeof found === "string" ? found : "";
}

/** A `content` field that is either a string or a list of parts with a `text`. */
export function textsOf(content: unknown): readonly string[] {
  if (typeof content === "string") return [content];
  if (!Array.isArray(content)) return [];
  return content
    .filter((part) => isObject(part) && typeof part["text"] === "string")
    .map((part) => textAt(part, "text"));
}

export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
