/**
 * Puts hook records into the spool directory, one file each. The name sorts by
 * time, then by count within the process:
 *
 *   20260131T235959.123Z-000001-4242.json
 *
 * The time in a name never goes back, even if the clock does; the record holds
 * the time of the clock.
 *
 * A record is written under a name that begins with a dot and then renamed, so
 * that whoever watches the directory only ever sees whole records.
 */
import { renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { HookRecord } from "./hook-record.ts";

export type SpoolWriter = (record: HookRecord) => void;

export function spoolWriter(directory: string, pid: number): SpoolWriter {
  let count = 0;
  let latest = "";
  return (record) => {
    count++;
    const time = record.at.replaceAll(/[-:]/g, "");
    if (time > latest) latest = time;
    const name = `${latest}-${String(count).padStart(6, "0")}-${pid}.json`;
    const temporary = join(directory, `.${name}`);
    try {
      writeFileSync(temporary, `${JSON.stringify(record)}\n`, { mode: 0o600, flag: "wx" });
      renameSync(temporary, join(directory, name));
    } catch (error) {
      rmSync(temporary, { force: true });
      throw error;
    }
  };
}
