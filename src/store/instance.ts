/**
 * This home's id. It is part of every mark on a living process, so it must
 * survive the loss of the database: it stands in the `meta` table and in a file
 * of its own, and either restores the other.
 *
 * The file: the id (^[a-z0-9]{8,16}$) and a newline, nothing else. When both are
 * there and differ, the database wins.
 */
import { renameSync } from "node:fs";
import { randomBytes } from "node:crypto";
import { writeFileAtomicSync } from "../platform/atomic-file.ts";
import { readPlainFile } from "../platform/plain-file.ts";
import { messageOf } from "../platform/reeve-error.ts";
import type { EventBody } from "../session/event.ts";
import type { StoreOptions } from "./options.ts";
import type { Sqlite } from "./sqlite.ts";

const INSTANCE = /^[a-z0-9]{8,16}$/;
const LARGEST_BYTES = 1_024;

type FileReading = { readonly id: string } | { readonly id: undefined; readonly why: string | undefined };

export function resolveInstance(
  db: Sqlite,
  { instancePath, clock, log }: StoreOptions,
): { readonly instance: string; readonly repairs: readonly EventBody[] } {
  const stored = db.get<{ value: string }>("SELECT value FROM meta WHERE key = 'instance'")?.value;
  const known = stored !== undefined && INSTANCE.test(stored) ? stored : undefined;
  const file = readInstanceFile(instancePath);
  const repairs: EventBody[] = [];
  if (file.id === undefined && file.why !== undefined) {
    const quarantined = `${instancePath}.corrupt-${clock.now()}`;
    renameSync(instancePath, quarantined);
    repairs.push({ type: "state-file-quarantined", path: quarantined, why: file.why });
  }
  const instance = known ?? file.id ?? randomBytes(6).toString("hex");
  if (file.id !== instance) {
    if (file.id !== undefined)
      log("the instance file named another home; the database's id is kept", { file: file.id, instance });
    writeFileAtomicSync(instancePath, `${instance}\n`);
  }
  if (known === undefined) db.run("INSERT OR REPLACE INTO meta (key, value) VALUES ('instance', ?)", instance);
  return { instance, repairs };
}

function readInstanceFile(path: string): FileReading {
  try {
    const text = readPlainFile(path, LARGEST_BYTES, "refused");
    if (text === null) return { id: undefined, why: undefined };
    const id = text.endsWith("\n") ? text.slice(0, -1) : "";
    return INSTANCE.test(id) ? { id } : { id: undefined, why: "it does not hold an instance id" };
  } catch (error) {
    return { id: undefined, why: messageOf(error) };
  }
}
