/**
 * The daemon's own log: one JSON object per line, 0600, bounded (one older file
 * is kept). It is for people who repair Reeve; what happened to sessions is in
 * the event log. Never give it message texts or environment values.
 */
import { closeSync, constants, fstatSync, renameSync, writeSync } from "node:fs";
import { escapeHidden } from "./hidden-characters.ts";
import { clearTheWay, openOwnFile } from "./own-file.ts";
import { messageOf } from "./reeve-error.ts";

export type Log = (message: string, fields?: object) => void;

const LARGEST_BYTES = 4 * 1024 * 1024;

/** Writing to it never throws: a full disk must not take the daemon with it. */
export function openLog(path: string): Log {
  let file = open(path);
  let size = fstatSync(file).size;

  function turnOver(): void {
    clearTheWay(`${path}.1`);
    renameSync(path, `${path}.1`);
    const next = open(path);
    // Only now: a descriptor that was closed may be somebody else's file by the next line.
    closeSync(file);
    file = next;
    size = 0;
  }

  return (message, fields = {}) => {
    try {
      const entry = { at: new Date().toISOString(), daemon: process.pid, message, ...readable(fields) };
      const line = `${escapeHidden(JSON.stringify(entry))}\n`;
      if (size > LARGEST_BYTES) turnOver();
      size += writeSync(file, line);
    } catch {
      // The event log says what matters.
    }
  };
}

function open(path: string): number {
  return openOwnFile(path, constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT);
}

function readable(fields: object): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(fields).map(([key, value]: [string, unknown]) => [
      key,
      value instanceof Error ? messageOf(value) : value,
    ]),
  );
}
