/** Removes a session that was brought from elsewhere, with its files. The archive that it came from is not touched. */
import * as z from "zod/mini";
import { removeImport as remove } from "../supervisor/story/imports.ts";
import { defineOperation } from "./contract.ts";
import { importReference, importSchema, viewImport } from "./import-view.ts";

export const removeImport = defineOperation({
  name: "remove_import",
  summary: "Remove an imported session with its files. The archive that it came from stays.",
  method: "POST",
  path: "/v1/imports/{import}/remove",
  effect: "end",
  callers: { operator: "any", session: "none" },
  example: { import: "import-k3v9xw2apq" },
  names: [],
  about: ["import"],
  input: () => z.object({ import: importReference }),
  output: () => importSchema,

  run: async ({ import: id }, { outputsDir }) => viewImport(await remove(outputsDir, id)),
});
