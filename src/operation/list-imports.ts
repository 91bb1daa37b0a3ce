/** The sessions that were brought from elsewhere. */
import * as z from "zod/mini";
import { listImports as found } from "../supervisor/story/imports.ts";
import { defineOperation } from "./contract.ts";
import { importSchema, viewImport } from "./import-view.ts";

export const listImports = defineOperation({
  name: "list_imports",
  summary: "Sessions from elsewhere that were imported to be looked at, oldest import first.",
  method: "GET",
  path: "/v1/imports",
  effect: "read",
  callers: { operator: "any", session: "none" },
  example: {},
  names: [],
  input: () => z.object({}),
  output: () => z.object({ imports: z.array(importSchema).check(z.describe("Oldest import first.")) }),

  run: async (_, { outputsDir }) => ({ imports: (await found(outputsDir)).map(viewImport) }),
});
