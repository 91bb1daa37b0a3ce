/**
 * Reads fields of JSON that other programs wrote. Each field is checked when it
 * is read; a value of another type counts as missing.
 */

export type Fields = Readonly<Record<string, unknown>>;

const NONE: Fields = {};

export function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function fieldsOf(value: unknown): Fields {
  return isFields(value) ? value : NONE;
}

export function fieldsOrNull(value: unknown): Fields | null {
  return isFields(value) ? value : null;
}

export function parseFields(text: string): Fields | null {
  try {
    return fieldsOrNull(JSON.parse(text));
  } catch {
    return null;
  }
}

export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

export function textOf(value: unknown): string | null {
  return typeof value === "string" && value !== "" ? value : null;
}

export function countOf(value: unknown): number {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0 ? value : 0;
}

export function textIn(fields: Fields | null, key: string): string | null {
  return textOf(fields?.[key]);
}

export function countIn(fields: Fields | null, key: string): number {
  return countOf(fields?.[key]);
}

/** Only the entries that are objects. */
export function listIn(fields: Fields | null, key: string): readonly Fields[] {
  return listOf(fields?.[key]).filter(isFields);
}
