/** The images that were built for sessions. */
import * as z from "zod/mini";
import { defineOperation } from "./contract.ts";
import { imageSchema, viewImage } from "./image-view.ts";

export const listImages = defineOperation({
  name: "list_images",
  summary: "The images that Reeve built for sessions in containers, newest first, with the agents in them.",
  method: "GET",
  path: "/v1/images",
  effect: "read",
  callers: { operator: "any", session: "none" },
  example: {},
  names: [],
  input: () => z.object({}),
  output: () => z.object({ images: z.array(imageSchema).check(z.describe("Newest first.")) }),

  run: async (_, { images }) => ({ images: (await images.list()).map(viewImage) }),
});
