/** Codex's token counts; `input_tokens` includes the cached ones, `output_tokens` the reasoning (0.166.0). */
import type { Usage } from "../../session/reading.ts";
import { countOf, type Fields } from "../../platform/json-fields.ts";

/** As the rollout spells them. */
export function usageOf(counts: Fields): Usage {
  return usage(counts["input_tokens"], counts["cached_input_tokens"], counts["output_tokens"]);
}

/** As the app-server spells them. */
export function protocolUsageOf(counts: Fields): Usage {
  return usage(counts["inputTokens"], counts["cachedInputTokens"], counts["outputTokens"]);
}

function usage(input: unknown, cached: unknown, output: unknown): Usage {
  return {
    inputTokens: countOf(input),
    cachedInputTokens: countOf(cached),
    outputTokens: countOf(output),
    costUsd: null,
  };
}
