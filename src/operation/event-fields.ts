/** What the descriptions of events share; made when somebody asks for the description of the API. */
import * as z from "zod/mini";
import { WAKE_REASONS, type WakeReason } from "../session/wake.ts";
import { text } from "./field.ts";
import { evidenceSchema } from "./session-view.ts";

/** As the API shows one. */
export interface EventView {
  readonly seq: number;
  readonly at: string;
  readonly session_id: string | null;
  readonly caller: string | null;
  readonly via?: string | undefined;
  readonly type: string;
  readonly wake?: WakeReason | undefined;
  readonly data: Readonly<Record<string, unknown>>;
}

export type CommonFields = ReturnType<typeof commonFields>;

export function commonFields() {
  const evidence = evidenceSchema.check(z.describe("How that is known."));
  const reason = z
    .object({
      code: text("For programs: a stable word."),
      text: text("For people: a sentence."),
      evidence,
    })
    .register(z.globalRegistry, { id: "Reason", description: "Why something happened." })
    .check(z.describe("Why."));
  return {
    evidence,
    reason,
    source: evidenceSchema.shape.source,
    pid: z.nullable(z.int()).check(z.describe("Its process; null where it has none on this machine.")),
  };
}

/** Of every event. */
export const wakeField = () =>
  z
    .optional(z.enum(WAKE_REASONS))
    .check(z.describe("As what it ends a wait, and wakes whoever started the session; missing where it does neither."));
