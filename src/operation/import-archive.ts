/** Takes an archive from elsewhere in, to be looked at, after checking all of it. No session of this home changes. */
import { isAbsolute } from "node:path";
import * as z from "zod/mini";
import { requireRoom } from "../platform/disk-room.ts";
import { importArchive as takeIn } from "../supervisor/story/imports.ts";
import { defineOperation } from "./contract.ts";
import { plainText, seconds } from "./field.ts";
import { importSchema, viewImport } from "./import-view.ts";

export const importArchive = defineOperation({
  name: "import_archive",
  summary:
    "Take in an archive that export_session wrote, here or elsewhere, to look at it. It is checked first; it becomes no session of this home and can only be read.",
  method: "POST",
  path: "/v1/imports",
  effect: "change",
  callers: { operator: "any", session: "none" },
  example: { path: "/home/you/fix.tar.gz" },
  names: [],
  input: () =>
    z.object({
      path: plainText().check(z.refine(isAbsolute, "an absolute path"), z.describe("The archive: an absolute path.")),
      timeout_seconds: z._default(seconds(36_000), 3_600).check(z.describe("How long you would wait for it.")),
    }),
  output: () => importSchema,

  async run({ path }, { outputsDir, clock, idempotency }) {
    requireRoom(outputsDir);
    const key = idempotency === null ? null : `${idempotency.key} ${idempotency.fingerprint}`;
    return viewImport(await takeIn({ path, outputsDir, now: clock.now(), key }));
  },
});
