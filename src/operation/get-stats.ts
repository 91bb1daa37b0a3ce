/** Counts turns, tokens, cost, durations and failures over sessions. What is not known is null, never 0. */
import * as z from "zod/mini";
import { stripTerminal } from "../platform/terminal-text.ts";
import { GROUPINGS, type Numbers, type Percentiles } from "../search/contract.ts";
import type { OperationContext } from "./contract.ts";
import { defineOperation } from "./contract.ts";
import { count, text, textOrNull, yesOrNo, whenUsed } from "./field.ts";
import { indexSchema, timeField, timeOf, viewIndex } from "./search.ts";

const milliseconds = (description: string) => z.number().check(z.meta({ description, "x-unit": "milliseconds" }));

const percentilesSchema = z
  .object({
    p50: milliseconds("Half of them took at most so long."),
    p90: milliseconds("Nine in ten took at most so long."),
    p99: milliseconds("99 in 100 took at most so long."),
  })
  .register(z.globalRegistry, { id: "Percentiles", description: "How long something took, each a measured value." });

const groupSchema = whenUsed(() =>
  z
    .object({
      group: text("The agent, role, day (YYYY-MM-DD, of the daemon's time zone) or the id of the session."),
      name: textOrNull("Of a session its name, where it is still there; null otherwise."),
      sessions: count("How many sessions had a turn, an answer or a call then."),
      turns: z
        .object({
          completed: count("Turns that the agent completed."),
          failed: count("Turns that failed."),
          interrupted: count("Turns that were interrupted."),
          error_rate: z
            .nullable(z.number())
            .check(
              z.describe("Failed ones among those that completed or failed, from 0 to 1; null where there were none."),
            ),
          duration_ms: z
            .nullable(percentilesSchema)
            .check(z.describe("From the beginning to the end of a turn; null where no turn has both.")),
        })
        .check(z.describe("Turns that ended.")),
      failures: z
        .record(z.string(), z.int())
        .check(z.describe("Failed turns by their kind; `unknown` where the agent's words did not tell.")),
      tokens: z
        .nullable(
          z.object({
            input: count("Tokens that the model read, cached ones included."),
            cached_input: count("Of these, tokens that came from the vendor's cache."),
            output: count("Tokens that the model wrote."),
          }),
        )
        .check(z.describe("As the transcripts tell; null where none does.")),
      cost_usd: z
        .nullable(z.number())
        .check(z.describe("In US dollars, as far as agents say so themselves; null where none does.")),
      cost_is_partial: yesOrNo("True: some answers have no known cost, so it was more than that."),
      calls: z
        .nullable(
          z.object({
            count: count("Calls to the model."),
            failed: count("Of these, calls that ended in an error."),
            error_rate: z.number().check(z.describe("From 0 to 1.")),
            latency_ms: z
              .nullable(percentilesSchema)
              .check(z.describe("Until the last byte; null where it is not known.")),
          }),
        )
        .check(z.describe("Of sessions whose traffic is captured (session_oai_raw.log); null where none is.")),
    })
    .register(z.globalRegistry, { id: "Stats", description: "Numbers of one group of sessions." }),
);

export const getStats = defineOperation({
  name: "get_stats",
  summary: "Turns, tokens, cost, durations and error rates by agent, role, day or session.",
  method: "GET",
  path: "/v1/stats",
  effect: "read",
  callers: { operator: "any", session: "descendants" },
  example: { by: "day", since: "2026-11-10T00:00:00Z" },
  names: [],
  input: () =>
    z.object({
      by: z._default(z.enum(GROUPINGS), "agent").check(z.describe("What the numbers are grouped by.")),
      since: timeField("Only turns that ended, and answers and calls, from this time on."),
      until: timeField("Only those before this time."),
    }),
  output: () =>
    z.object({
      groups: z.array(groupSchema).check(z.describe("In the order of their names.")),
      index: indexSchema.check(z.describe("How far the index is that this was counted in.")),
    }),

  async run(input, context) {
    const groups = await context.supervisor.search.numbers({
      by: input.by,
      since: timeOf(input.since),
      until: timeOf(input.until),
      sessionIds: context.scope.ids(),
    });
    return { groups: groups.map((group) => viewNumbers(group, context)), index: viewIndex(context) };
  },
});

function viewNumbers(
  { group, sessions, turns, failures, turnMs, tokens, costUsd, isCostPartial, calls }: Numbers,
  { store: { registry } }: OperationContext,
): z.infer<typeof groupSchema> {
  const ended = turns.completed + turns.failed;
  const named = registry.get(group)?.identity.name;
  return {
    group,
    name: named === undefined ? null : stripTerminal(named),
    sessions,
    turns: { ...turns, error_rate: ended === 0 ? null : rate(turns.failed, ended), duration_ms: rounded(turnMs) },
    failures,
    tokens: tokens === null ? null : { input: tokens.input, cached_input: tokens.cached, output: tokens.output },
    cost_usd: costUsd,
    cost_is_partial: isCostPartial,
    calls:
      calls === null
        ? null
        : {
            count: calls.count,
            failed: calls.failed,
            error_rate: rate(calls.failed, calls.count),
            latency_ms: rounded(calls.latencyMs),
          },
  };
}

function rate(part: number, whole: number): number {
  return Math.round((part / whole) * 10_000) / 10_000;
}

function rounded(times: Percentiles | null): Percentiles | null {
  return times === null ? null : { p50: Math.round(times.p50), p90: Math.round(times.p90), p99: Math.round(times.p99) };
}
