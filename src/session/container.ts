/** The container of a session, where its runtime gives it one: what it is made from, and what it may use and see. */
import { flag, instant, listOf, object, oneOf, orNull, positive, text, type Of } from "./shape.ts";

/** `none`: only itself. `proxy`: its agent's model, and what the user declared, by the capture proxy. `full`: whatever the machine reaches. */
export const NETWORKS = ["none", "proxy", "full"] as const;

const mount = object({ source: text, target: text, isReadOnly: flag });
export interface Mount extends Of<typeof mount> {}

export const container = object({
  image: text,
  /** How many processors, how many bytes of memory and how many processes it may use; null: as many as there are. */
  cpus: orNull(instant),
  memoryBytes: orNull(positive),
  pids: orNull(positive),
  network: oneOf(...NETWORKS),
  /** What it sees of this machine beside its directory and its checkout. */
  mounts: listOf(mount),
});
export interface Container extends Of<typeof container> {}
