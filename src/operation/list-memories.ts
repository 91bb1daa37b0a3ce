/** Lists what is remembered, newest first, or shows one memory whole. */
import * as z from "zod/mini";
import { defineOperation } from "./contract.ts";
import { textOrNull } from "./field.ts";
import { filterFields, filterOf, memoryReference, memorySchema, reachedMemory, viewMemory } from "./memory-view.ts";
import { badPage } from "./record-search.ts";

export const listMemories = defineOperation({
  name: "list_memories",
  summary: "List what is remembered, newest first; or one memory with its whole text.",
  method: "GET",
  path: "/v1/memory",
  effect: "read",
  callers: { operator: "any", session: "any" },
  example: { tag: "tests", limit: 20 },
  names: [],
  about: ["memory"],
  input: () =>
    z.object({
      memory: z.optional(memoryReference).check(z.describe("Only this one, with its whole text.")),
      ...filterFields,
      limit: z
        ._default(z.int().check(z.minimum(1), z.maximum(200)), 20)
        .check(z.meta({ description: "At most so many.", "x-unit": "memories" })),
      page: z.optional(z.string().check(z.maxLength(32))).check(z.describe("`next_page` of the answer before.")),
    }),
  output: () =>
    z.object({
      memories: z.array(memorySchema).check(z.describe("Newest first.")),
      next_page: textOrNull("Pass it as `page` to go on; null: there is no more."),
    }),

  async run(input, context) {
    if (input.memory !== undefined)
      return { memories: [viewMemory(reachedMemory(context, input.memory), true)], next_page: null };
    const listed = context.supervisor.memories.list(filterOf(context, input), placeOf(input.page), input.limit + 1);
    const shown = listed.slice(0, input.limit);
    const last = shown.at(-1);
    return {
      memories: shown.map(({ memory }) => viewMemory(memory)),
      next_page: listed.length > shown.length && last !== undefined ? String(last.place) : null,
    };
  },
});

function placeOf(page: string | undefined): number | null {
  if (page === undefined) return null;
  if (!/^\d{1,15}$/.test(page)) throw badPage(page);
  return Number(page);
}
