/** Forgets a memory, for good. */
import * as z from "zod/mini";
import { defineOperation } from "./contract.ts";
import { text } from "./field.ts";
import { memoryReference, reachedMemory } from "./memory-view.ts";

export const forgetMemory = defineOperation({
  name: "forget_memory",
  summary: "Forget a memory. It is removed for good, also from the vector store.",
  method: "POST",
  path: "/v1/memory/{memory}/forget",
  effect: "end",
  callers: { operator: "any", session: "any" },
  example: { memory: "memory-k3v9xw2apq" },
  names: [],
  about: ["memory"],
  input: () => z.object({ memory: memoryReference }),
  output: () => z.object({ memory_id: text("What was forgotten.") }),

  async run(input, context) {
    const { id } = reachedMemory(context, input.memory);
    context.supervisor.memories.forget(id);
    return { memory_id: id };
  },
});
