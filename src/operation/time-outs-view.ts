/** Time-outs as every surface takes and shows them. */
import * as z from "zod/mini";
import type { Moment } from "../platform/clock.ts";
import { ReeveError } from "../platform/reeve-error.ts";
import { spentMs } from "../session/countdown.ts";
import type { Session } from "../session/session.ts";
import {
  type ChosenTimeOuts,
  parseTimeOuts,
  TIME_OUT_ACTIONS,
  TIME_OUT_NAMES,
  TIME_OUT_SOURCES,
  TIME_OUTS,
  type TimeOutChoices,
  type TimeOutName,
} from "../session/time-out.ts";
import { text, textOrNull, whenUsed } from "./field.ts";

const after = whenUsed(() =>
  z
    .union([z.number(), z.string()])
    .check(z.describe('After how long: a number of seconds, a text like "30m", or "off".')),
);
const choice = whenUsed(() =>
  z.optional(
    z.union([
      after,
      // oxlint-disable-next-line unicorn/no-thenable -- the field has this name; nobody awaits a schema
      z.strictObject({ after, then: z.optional(z.enum(TIME_OUT_ACTIONS)).check(z.describe("What happens then.")) }),
    ]),
  ),
);
const described = (name: TimeOutName) => choice.check(z.describe(TIME_OUTS[name].meaning));

export const timeOutsInput = z
  .strictObject({
    start: described("start"),
    turn: described("turn"),
    idle: described("idle"),
    approval: described("approval"),
    stop_grace: described("stop_grace"),
    age: described("age"),
  } satisfies Record<TimeOutName, unknown>)
  .check(
    z.describe(
      'After how long Reeve does something about the session. Each is a number of seconds, a text like "30m", "off", or an object with `after` and `then`, where `then` is report, interrupt (a turn) or end. By default what config.toml says for its role, its agent or all sessions.',
    ),
  );

export function timeOutsOfInput(input: z.output<typeof timeOutsInput> | undefined): TimeOutChoices {
  const given = Object.entries(input ?? {}).filter(([, value]) => value !== undefined);
  try {
    return parseTimeOuts("timeouts", Object.fromEntries(given));
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new ReeveError({ code: "bad-timeout", kind: "usage", message: `${why}.`, details: { field: "timeouts" } });
  }
}

export const timeOutsSchema = whenUsed(() =>
  z.array(
    z
      .object({
        which: z.enum(TIME_OUT_NAMES).check(z.describe("Which time-out.")),
        after_seconds: z.nullable(z.number()).check(z.describe("After how long it fires; null: it is off.")),
        action: z.enum(TIME_OUT_ACTIONS).check(z.describe("What happens then.")),
        from: z
          .enum(TIME_OUT_SOURCES)
          .check(
            z.describe("Who chose that: the start, its role or agent in config.toml, [timeouts] there, or nobody."),
          ),
        meaning: text("When it fires."),
        now: textOrNull("What has passed of it, or that it has fired; null while there is nothing to count."),
      })
      .register(z.globalRegistry, {
        id: "TimeOut",
        description: "After how long Reeve does something about a session.",
      }),
  ),
);

export function viewTimeOuts(session: Session, chosen: ChosenTimeOuts, now: Moment): z.infer<typeof timeOutsSchema> {
  return TIME_OUT_NAMES.map((which) => {
    const { afterMs, action, from } = chosen[which];
    return {
      which,
      after_seconds: afterMs === null ? null : afterMs / 1_000,
      action,
      from,
      meaning: TIME_OUTS[which].meaning,
      now: stateOf(session, which, afterMs, now),
    };
  });
}

function stateOf({ timeouts, wish }: Session, which: TimeOutName, afterMs: number | null, now: Moment): string | null {
  const own = timeouts.countdowns.filter((countdown) => countdown.which === which);
  const fired = own.find((countdown) => countdown.fired !== null)?.fired ?? null;
  if (fired !== null) return `Fired ${new Date(fired.at).toISOString()}: ${fired.failed ?? fired.action}.`;
  if (own.length === 0 || afterMs === null) return null;
  if (wish.stay !== null && (which === "idle" || which === "age")) return "Does not fire while the session is held.";
  const spent = Math.max(...own.map((countdown) => spentMs(countdown, now)));
  const stands = own.every(({ since }) => since === null) ? ", and stands still" : "";
  return `${Math.floor(spent / 1_000)} s have passed${stands}.`;
}
