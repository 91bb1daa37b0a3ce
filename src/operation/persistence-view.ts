/** What a start says of what is kept of its session, and what a view of the session says. */
import * as z from "zod/mini";
import { stripTerminal } from "../platform/terminal-text.ts";
import { CAPTURES, REQUESTED_CAPTURES } from "../session/persistence.ts";
import type { Session } from "../session/session.ts";
import { plainText, textOrNull, whenUsed } from "./field.ts";

export const persistenceInput = {
  persist_session: z
    .optional(z.boolean())
    .check(
      z.describe(
        "Whether to keep everything about it in its directory: logs, model traffic, terminal. By default what config.toml says for its role, its agent or all sessions, else no.",
      ),
    ),
  capture: z
    .optional(z.enum(REQUESTED_CAPTURES))
    .check(
      z.describe(
        "With `persist_session`: how its model traffic is captured. native: by what the agent itself offers. proxy: by a proxy of Reeve's. By default native where the agent has it, else proxy.",
      ),
    ),
  debug_log: z
    .optional(plainText().check(z.minLength(1, "a path, or be left out"), z.maxLength(4_096)))
    .check(z.describe("With `persist_session`: where the agent's own log goes; relative to the session's directory.")),
} as const;

export const persistenceSchema = whenUsed(() =>
  z
    .nullable(
      z.object({
        capture: z
          .enum(CAPTURES)
          .check(z.describe("How its model traffic is captured; none: its agent offers no way to.")),
        debug_log: textOrNull("Where the agent's own log goes; null where none was asked for."),
        switched_off: z
          .array(z.string())
          .check(z.describe("What its agent does not do, or does otherwise, because it is captured; a sentence each.")),
      }),
    )
    .check(z.describe("What is kept of it beyond what every session has; null: nothing (`persist_session` is off).")),
);

export function viewPersistence({ identity, watch }: Session): z.infer<typeof persistenceSchema> {
  const { persistence } = identity.launch;
  if (persistence === null) return null;
  const { capture, debugLog } = persistence;
  const off = watch.capture?.switchedOff ?? [];
  return { capture, debug_log: debugLog === null ? null : stripTerminal(debugLog), switched_off: [...off] };
}
