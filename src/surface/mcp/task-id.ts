/**
 * A wait as the id of a task. The id carries all of it, so nothing is stored:
 * it means the same to the next MCP server and to the next daemon. Whoever
 * makes one up has only said what to wait for; the door decides whether they may.
 *
 * The format: base64url of a JSON list, [1, sessions, mode, for, cursor, since
 * when (ms), until when (ms, 0: no end), those that woke before: [id, name,
 * reason, ok]]. The first number is the format's version.
 */
import { ReeveError } from "../../platform/reeve-error.ts";

export interface AwokenBefore {
  readonly id: string;
  readonly name: string;
  readonly reason: string;
  readonly ok: boolean;
}

export interface TaskWait {
  readonly sessions: readonly string[];
  readonly mode: "any" | "all";
  readonly for: readonly string[];
  readonly since: number;
  readonly createdAt: number;
  /** 0: it has no end. */
  readonly endsAt: number;
  readonly before: readonly AwokenBefore[];
}

const VERSION = 1;
/** It travels in a header too. About 100 sessions. */
const LONGEST = 6_000;

/** Null where it would be too long. */
export function encodeTask({ sessions, mode, for: wanted, since, createdAt, endsAt, before }: TaskWait): string | null {
  const awoken = before.map(({ id, name, reason, ok }) => [id, name, reason, ok]);
  const fields = [VERSION, sessions, mode, wanted, since, createdAt, endsAt, awoken];
  const id = Buffer.from(JSON.stringify(fields)).toString("base64url");
  return id.length > LONGEST ? null : id;
}

export function decodeTask(id: unknown): TaskWait {
  const fields = typeof id === "string" && id.length <= LONGEST ? parse(id) : null;
  if (fields === null) throw unknownTask();
  const [version, sessions, mode, wanted, since, createdAt, endsAt, awoken] = fields;
  const isWait =
    version === VERSION &&
    areTexts(sessions) &&
    sessions.length > 0 &&
    (mode === "any" || mode === "all") &&
    areTexts(wanted) &&
    isCount(since) &&
    isCount(createdAt) &&
    isCount(endsAt) &&
    Array.isArray(awoken);
  if (!isWait) throw unknownTask();
  return { sessions, mode, for: wanted, since, createdAt, endsAt, before: awoken.map(awokenOf) };
}

function awokenOf(fields: unknown): AwokenBefore {
  const [id, name, reason, ok] = Array.isArray(fields) ? (fields as unknown[]) : [];
  if (!areTexts([id, name, reason]) || typeof ok !== "boolean") throw unknownTask();
  return { id: String(id), name: String(name), reason: String(reason), ok };
}

function parse(id: string): readonly unknown[] | null {
  try {
    const fields: unknown = JSON.parse(Buffer.from(id, "base64url").toString("utf8"));
    return Array.isArray(fields) ? fields : null;
  } catch {
    return null;
  }
}

function areTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((one) => typeof one === "string");
}

/** A whole number that is a moment or a cursor. */
function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) >= 0 && Number(value) <= 8.64e15;
}

function unknownTask(): ReeveError {
  return new ReeveError({
    code: "unknown-task",
    kind: "usage",
    message: "This is not the id of a task that this server gave; call wait_for_session again.",
  });
}
