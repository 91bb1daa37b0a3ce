/** Looking into JSON that others wrote: a value of the wrong type is as good as none. */

export type JsonRecord = Readonly<Record<string, unknown>>;

export function isRecord(value: unknown): value is JsonRecord {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function recordAt(record: JsonRecord, key: string): JsonRecord {
  const value = ownValue(record, key);
  return isRecord(value) ? value : {};
}

export function textAt(record: JsonRecord, key: string): string | null {
  const value = ownValue(record, key);
  return typeof value === "string" ? value : null;
}

export function listAt(record: JsonRecord, key: string): readonly unknown[] {
  const value = ownValue(record, key);
  return Array.isArray(value) ? value : [];
}

export function countAt(record: JsonRecord, key: string): number {
  const value = ownValue(record, key);
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0 ? value : 0;
}

export function parseRecord(text: string): JsonRecord | null {
  try {
    const value: unknown = JSON.parse(text);
    return isRecord(value) ? value : null;
  } catch {
    return null;
  }
}

function ownValue(record: JsonRecord, key: string): unknown {
  return Object.hasOwn(record, key) ? record[key] : undefined;
}
