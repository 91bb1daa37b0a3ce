import { anything, count, object, recordOf, text, type Of } from "./shape.ts";

/** The manifest that made it: it is known as that one's own by the file and the id. */
export const manifestOrigin = object({
  /** Absolute, without links. */
  file: text,
  id: text,
  /** Its place in the file; sessions are ended in reverse. */
  order: count,
  /** What the file said of it when it was started (fleet/manifest-plan.ts); of a prompt only a print. */
  spec: recordOf(anything),
});
export interface ManifestOrigin extends Of<typeof manifestOrigin> {}
