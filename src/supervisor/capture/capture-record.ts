/**
 * What a home keeps for capturing, in `capture.json` (0600), made when the first
 * session needs it:
 *
 *     {"key":"<43 characters>","port":<number or null>}
 *
 * From `key` follow the keys of routes, so that a session's address is the same
 * whatever dies, and the key of tags. `port` is the last one of the capture
 * proxy: the next one takes it again, because agents know it.
 */
import { createHmac, randomBytes } from "node:crypto";
import { writeFileAtomicSync } from "../../platform/atomic-file.ts";
import { parseFields, textIn } from "../../platform/json-fields.ts";
import { readOwnFile } from "../../platform/own-file.ts";

export interface CaptureRecord {
  /** Whether there is one: then a proxy may be running. */
  exists(): boolean;
  /** Who knows it may use the upstreams of this session. */
  routeKey(sessionId: string): string;
  /** The name of the directory by which its container reaches the proxy. */
  doorName(sessionId: string): string;
  /** For the tags of secrets, the same in the whole home. */
  tagKey(): string;
  port(): number | null;
  setPort(port: number): void;
}

interface Kept {
  readonly key: string;
  readonly port: number | null;
}

const MOST_BYTES = 4_096;
/** Paths of sockets are short (platform/home.ts); this many tell a home's sessions apart. */
const DOOR_LETTERS = 10;

export function openCaptureRecord(path: string): CaptureRecord {
  let known: Kept | null = null;

  function read(): Kept | null {
    if (known !== null) return known;
    const fields = parseFields(readOwnFile(path, MOST_BYTES) ?? "");
    const key = textIn(fields, "key");
    const port = fields?.["port"];
    known = key === null ? null : { key, port: typeof port === "number" ? port : null };
    return known;
  }

  function write(kept: Kept): Kept {
    writeFileAtomicSync(path, `${JSON.stringify(kept)}\n`);
    known = kept;
    return kept;
  }

  const keep = (): Kept => read() ?? write({ key: randomBytes(32).toString("base64url"), port: null });
  const derived = (purpose: string): string => createHmac("sha256", keep().key).update(purpose).digest("base64url");
  return {
    exists: () => read() !== null,
    routeKey: (sessionId) => derived(`route ${sessionId}`),
    doorName: (sessionId) =>
      createHmac("sha256", keep().key).update(`door ${sessionId}`).digest("hex").slice(0, DOOR_LETTERS),
    tagKey: () => derived("tags"),
    port: () => read()?.port ?? null,
    setPort(port) {
      const before = keep();
      if (before.port !== port) write({ ...before, port });
    },
  };
}
