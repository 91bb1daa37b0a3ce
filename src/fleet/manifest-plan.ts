/**
 * What must be done so that the sessions of a manifest are as the file says:
 * compares what it asks for with the records of the sessions that it made.
 * A session is known as its own by the file and the id that its record names.
 */
import { createHash } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import { isEnded, type Session } from "../session/session.ts";
import type { SessionSpec } from "./manifest.ts";

/** What the record of a session keeps of its manifest, to be compared later. */
export type RecordedSpec = Readonly<Record<string, unknown>>;

export const STEP_ACTIONS = ["start", "replace", "bring-back", "keep", "remove"] as const;
export type StepAction = (typeof STEP_ACTIONS)[number];

export interface SpecChange {
  readonly key: string;
  /** Null: it was not said, or is not said any more. */
  readonly before: unknown;
  readonly after: unknown;
}

export interface Step {
  readonly id: string;
  readonly action: StepAction;
  /** The session that is there; null where there is none. */
  readonly session: Session | null;
  readonly why: string;
  readonly changes: readonly SpecChange[];
}

export interface Wanted {
  readonly id: string;
  readonly spec: RecordedSpec;
}

/**
 * Of the prompt only a print: it may hold what the session's environment makes a secret. The rest as it comes back from
 * the store, because the tables that the parser makes are other objects than those.
 */
export function recordedSpec({ prompt, ...spec }: SessionSpec): RecordedSpec {
  const plain = JSON.parse(JSON.stringify(spec)) as RecordedSpec;
  return prompt === undefined ? plain : { ...plain, prompt: printOf(prompt) };
}

function printOf(text: string): string {
  return `sha256:${createHash("sha256").update(text).digest("hex")}`;
}

/** Those in the file in its order, then what it no longer names. */
export function stepsOf(file: string, wanted: readonly Wanted[], sessions: readonly Session[]): readonly Step[] {
  const own = livingOf(file, sessions);
  const removed = own.filter(({ identity }) => wanted.every(({ id }) => id !== identity.manifest?.id));
  return [
    ...wanted.map((one) => stepFor(one, own.find(({ identity }) => identity.manifest?.id === one.id) ?? null)),
    ...removed.map((session) => removalOf(session)),
  ];
}

/** The sessions that this manifest made and nobody ended, in the order of the file. */
export function livingOf(file: string, sessions: readonly Session[]): readonly Session[] {
  const orderOf = ({ identity }: Session): number => identity.manifest?.order ?? 0;
  return sessions
    .filter((session) => session.identity.manifest?.file === file && !isEnded(session))
    .toSorted((one, other) => orderOf(one) - orderOf(other));
}

function stepFor({ id, spec }: Wanted, session: Session | null): Step {
  if (session === null) return { id, action: "start", session, why: "It does not run.", changes: [] };
  const changes = changesIn(session.identity.manifest?.spec ?? {}, spec);
  const { name } = session.identity;
  if (changes.length > 0) {
    const why = `Changed: ${changes.map(({ key }) => key).join(", ")}.`;
    return { id, action: "replace", session, why, changes };
  }
  if (session.wish.desired === "stopped")
    return { id, action: "replace", session, why: "It is being ended; it is started again after that.", changes };
  if (isUnbegun(session))
    return { id, action: "start", session, why: "It is recorded, and has no process yet.", changes };
  if (isGone(session)) return { id, action: "bring-back", session, why: "Its process is gone.", changes };
  const why = name === id ? "It is as the manifest says." : `It is as the manifest says, and is called ${name} now.`;
  return { id, action: "keep", session, why: isFinished(session) ? "Its command has finished." : why, changes };
}

function removalOf(session: Session): Step {
  const { manifest, name } = session.identity;
  const why = "It is not in the manifest any more; reeve up --prune ends it.";
  return { id: manifest?.id ?? name, action: "remove", session, why, changes: [] };
}

export function changesIn(before: RecordedSpec, after: RecordedSpec): readonly SpecChange[] {
  return [...new Set([...Object.keys(before), ...Object.keys(after)])]
    .filter((key) => !isDeepStrictEqual(before[key], after[key]))
    .map((key) => ({ key, before: before[key] ?? null, after: after[key] ?? null }));
}

/** It should run, its process is gone, and nobody is about to start it again. */
export function isGone(session: Session): boolean {
  const { wish, process } = session;
  if (wish.desired !== "running" || process.exit === null || process.restart.dueAt !== null) return false;
  return wish.stop?.next !== "restart" && !isFinished(session);
}

/**
 * Whoever asked for it may be gone with the daemon that knew its environment:
 * asked for again, it gets one. What waits for a limit, or is tried again, has it.
 */
function isUnbegun({ state, process, quota }: Session): boolean {
  const isFirst = process.incarnation === 1 && process.place === null;
  return state === "starting" && isFirst && process.createFailures === null && !quota.hasWaited;
}

/** A command that has done its work: nobody wants it done again. */
function isFinished({ identity, process, wish }: Session): boolean {
  return (
    wish.desired === "running" && process.exit?.code === 0 && !identity.hasTurns && identity.restartPolicy !== "always"
  );
}
