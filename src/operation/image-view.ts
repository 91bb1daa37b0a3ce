/** An image for sessions in containers, as everybody sees it. */
import * as z from "zod/mini";
import { iso } from "../platform/instant.ts";
import { type BuiltImage, IMAGE_AGENTS } from "../runtime/images.ts";
import { count, instant, text, textOrNull, whenUsed } from "./field.ts";

export const imageSchema = whenUsed(() =>
  z
    .object({
      image_id: text("Its id; changes with its content."),
      tags: z.array(z.string()).check(z.describe("Its names, by which a session asks for it.")),
      agents: z
        .array(
          z.object({
            agent: z.enum(IMAGE_AGENTS).check(z.describe("The agent.")),
            version: text("The version that is installed."),
          }),
        )
        .check(z.describe("The agents in it.")),
      reeve_version: textOrNull("The version of Reeve that built it; null where that is not known."),
      labels: z.record(z.string(), z.string()).check(z.describe("All its labels.")),
      bytes: count("Its size, with everything it is made from."),
      built_at: instant("When it was built. One that came from the cache keeps its time."),
    })
    .register(z.globalRegistry, { id: "Image", description: "An image that sessions in containers run in." }),
);

export type ImageView = z.output<typeof imageSchema>;

export function viewImage(image: BuiltImage): ImageView {
  return {
    image_id: image.id,
    tags: [...image.tags],
    agents: IMAGE_AGENTS.flatMap((agent) => {
      const version = image.agents[agent];
      return version === undefined ? [] : [{ agent, version }];
    }),
    reeve_version: image.reeveVersion,
    labels: { ...image.labels },
    bytes: image.bytes,
    built_at: iso(image.builtAt),
  };
}
