/** What a response of a model API says of itself, whoever's API it is. */
import type { Fields } from "../platform/json-fields.ts";

/** Input includes what was cached, output what was thought. */
export interface TokenUsage {
  readonly input_tokens: number | null;
  readonly output_tokens: number | null;
  readonly cached_tokens: number | null;
}

export interface UsageReport {
  readonly model: string | null;
  readonly usage: TokenUsage | null;
  /** It is the whole account of one answer. Otherwise a later event of the same answer may say more. */
  readonly isFinal: boolean;
}

/** Of one event of a stream, one message of a websocket, or a body; null where it says nothing. */
export type ReadUsage = (event: Fields) => UsageReport | null;
