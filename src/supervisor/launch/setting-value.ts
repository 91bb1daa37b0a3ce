/** Checks of single values of config.toml; what they throw completes a sentence about the file. */
import { RESTART_POLICIES, type RestartPolicy } from "../../session/restart-record.ts";

export function parseRestart(where: string, value: unknown): RestartPolicy | null {
  const policy = RESTART_POLICIES.find((known) => known === value);
  if (policy !== undefined) return policy;
  if (value === undefined) return null;
  throw new Error(`${where} restart must be one of ${quoted(RESTART_POLICIES)}`);
}

export function parseSwitch(what: string, value: unknown): boolean | null {
  if (value === undefined || typeof value === "boolean") return value ?? null;
  throw new Error(`${what} must be true or false`);
}

/** What a number may be, both ends included. */
export interface NumberRange {
  readonly least: number;
  readonly most: number;
  readonly isWhole?: boolean;
}

export function parseNumberIn(what: string, value: unknown, { least, most, isWhole = false }: NumberRange): number {
  const isNumber = typeof value === "number" && (!isWhole || Number.isInteger(value));
  if (isNumber && value >= least && value <= most) return value;
  throw new Error(`${what} must be a ${isWhole ? "whole " : ""}number from ${least} to ${most}`);
}

export function parseWord(what: string, value: unknown): string | null {
  if (value === undefined) return null;
  if (typeof value === "string" && value !== "") return value;
  throw new Error(`${what} must be some text`);
}

export function requireName(what: string, name: string): void {
  if (!/^[a-z0-9][a-z0-9-]{0,63}$/.test(name))
    throw new Error(`${what}'s name is made of lower-case letters, digits and dashes, not "${name}"`);
}

export function quoted(words: readonly string[]): string {
  return words.map((word) => `"${word}"`).join(", ");
}

export function tableOf(value: unknown, what: string): Readonly<Record<string, unknown>> {
  if (typeof value !== "object" || value === null || Array.isArray(value) || value instanceof Date)
    throw new Error(`${what} must be a table`);
  return value as Readonly<Record<string, unknown>>;
}
