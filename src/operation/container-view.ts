/** What a start says of its container, and what a view of the session says. */
import * as z from "zod/mini";
import { stripTerminal } from "../platform/terminal-text.ts";
import { type Container, NETWORKS } from "../session/container.ts";
import { plainText, text, whenUsed } from "./field.ts";

export const containerInput = {
  image: z
    .optional(plainText().check(z.minLength(1, "the name of an image, or be left out"), z.maxLength(255)))
    .check(
      z.describe("With a runtime that has containers: the image of its container. It must have a shell and tmux."),
    ),
  memory: z
    .optional(plainText().check(z.maxLength(32)))
    .check(z.describe("How much memory its container may use, such as `2g`.")),
  cpus: z
    .optional(z.number().check(z.minimum(0.01, "0.01 or more"), z.maximum(1_024, "at most 1024")))
    .check(z.describe("How many processors its container may use.")),
  pids: z
    .optional(z.int().check(z.minimum(1, "1 or more"), z.maximum(1_000_000, "at most 1000000")))
    .check(z.describe("How many processes its container may have; by default 512.")),
  network: z
    .optional(z.enum(NETWORKS))
    .check(
      z.describe(
        "What its container reaches. none: only itself. proxy: its agent's model through Reeve's proxy, and what `[docker.upstreams]` of config.toml declares. full: whatever this machine does. By default none.",
      ),
    ),
  mounts: z
    .optional(z.array(plainText().check(z.maxLength(4_096))).check(z.maxLength(100)))
    .check(
      z.describe(
        "What its container sees of this machine beside its directory: `SOURCE:TARGET`, or `SOURCE:TARGET:ro`; relative to `cwd`.",
      ),
    ),
} as const;

export const containerSchema = whenUsed(() =>
  z
    .nullable(
      z.object({
        image: text("Its image."),
        memory_bytes: z
          .nullable(z.number())
          .check(z.describe("How much memory it may use; null: as much as there is.")),
        cpus: z.nullable(z.number()).check(z.describe("How many processors it may use; null: all.")),
        network: z.enum(NETWORKS).check(z.describe("What it reaches.")),
      }),
    )
    .check(z.describe("The container that it runs in; null where its runtime has none.")),
);

export function viewContainer(container: Container | null): z.infer<typeof containerSchema> {
  if (container === null) return null;
  const { image, memoryBytes, cpus, network } = container;
  return { image: stripTerminal(image), memory_bytes: memoryBytes, cpus, network };
}
