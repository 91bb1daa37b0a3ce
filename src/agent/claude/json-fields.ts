/** Fields of JSON that somebody else wrote: what has another type than expected is not there. */

export type Fields = Readonly<Record<string, unknown>>;

export function fieldsOf(value: unknown): Fields | null {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Fields) : null;
}

export function parseFields(text: string): Fields | null {
  try {
    return fieldsOf(JSON.parse(text));
  } catch {
    return null;
  }
}

export function textIn(fields: Fields | null, key: string): string | null {
  const value = fields?.[key];
  return typeof value === "string" && value !== "" ? value : null;
}

export function countIn(fields: Fields | null, key: string): number {
  const value = fields?.[key];
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0 ? value : 0;
}

export function listIn(fields: Fields | null, key: string): readonly Fields[] {
  const value = fields?.[key];
  return Array.isArray(value) ? value.map(fieldsOf).filter((entry) => entry !== null) : [];
}
