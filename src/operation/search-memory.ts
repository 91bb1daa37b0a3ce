/** Looks for words in what is remembered. */
import * as z from "zod/mini";
import { defineOperation } from "./contract.ts";
import { textOrNull, made } from "./field.ts";
import { filterFields, filterOf, memorySchema, viewMemory } from "./memory-view.ts";

export const searchMemory = defineOperation({
  name: "search_memory",
  summary:
    'Search what is remembered: plain words must all be there, "…" is a phrase, word* a beginning; the best first. With a vector store, also what is alike.',
  method: "GET",
  path: "/v1/memory/search",
  effect: "read",
  callers: { operator: "any", session: "any" },
  example: { text: 'parser "time zone" test*', limit: 10 },
  names: [],
  input: () =>
    z.object({
      text: z
        .string()
        .check(
          z.minLength(1, "some text"),
          z.maxLength(1_000),
          z.describe('Words that must all be there; "…" for a phrase, word* for how a word begins. In any case.'),
        ),
      ...filterFields,
      limit: z
        ._default(z.int().check(z.minimum(1), z.maximum(100)), 10)
        .check(z.meta({ description: "At most so many.", "x-unit": "memories" })),
    }),
  output: () =>
    z.object({
      found: z
        .array(
          z.object({
            ...made(memorySchema).shape,
            score: z
              .number()
              .check(z.describe("How well it fits; higher is better. Only comparable within one answer.")),
          }),
        )
        .check(z.describe("The best first.")),
      note: textOrNull("Why the vector store was left out; null: it was asked, or there is none."),
    }),

  async run(input, context) {
    const { found, missing } = await context.supervisor.memories.find(
      input.text,
      filterOf(context, input),
      input.limit,
    );
    return {
      found: found.map(({ memory, score }) => ({ ...viewMemory(memory), score })),
      note: missing === null ? null : `Only words were looked for: the vector store cannot be used (${missing}).`,
    };
  },
});
