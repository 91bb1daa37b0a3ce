/** The usage limits of vendors that sessions met or were told of, and who waits for one. */
import * as z from "zod/mini";
import { stripTerminal } from "../platform/terminal-text.ts";
import { UNNAMED_LIMIT, type Quota } from "../fleet/quota.ts";
import { SOURCES } from "../session/session.ts";
import type { OperationContext } from "./contract.ts";
import { defineOperation } from "./contract.ts";
import { count, instant, instantOrNull, text, textOrNull, whenUsed } from "./field.ts";
import { limitConfidence } from "./parked-view.ts";
import { iso } from "./session-view.ts";

const quotaSchema = whenUsed(() =>
  z
    .object({
      account: text(
        "The account: the agent, and its id of the account, or the home directory where that is not known.",
      ),
      limit: text("The vendor's name of the limit; `unnamed` where only a failure told of it."),
      status: z
        .enum(["open", "waiting", "probing", "opening"])
        .check(
          z.describe(
            "open: it is not reached. waiting: it is reached, and sessions wait for its reset. probing: one session tries it. opening: it was reset, and the others continue one by one.",
          ),
        ),
      used_percent: z
        .nullable(z.number())
        .check(z.describe("How much is used, from 0 to 100; null where nobody said.")),
      resets_at: instantOrNull("When it resets, as the vendor said; null where nobody did."),
      retry_at: instantOrNull("When one session tries again; null where the limit is not reached."),
      since: instantOrNull("Since when it is reached; null where it is not."),
      confidence: limitConfidence,
      source: z.enum(SOURCES).check(z.describe("Who reported it.")),
      text: text("What the agent said about it."),
      reported_by: text("The id of the session that told of it last."),
      reported_at: instant("When that was."),
      failures: count("How often in a row the session that went first was rejected again."),
      canary: textOrNull("The id of the session that tries it now; null where none does."),
      sessions: count("How many sessions draw on this account."),
      waiting: z
        .array(z.object({ session_id: text("Its id."), name: text("Its name.") }))
        .check(z.describe("Sessions of which something waits for this account.")),
    })
    .register(z.globalRegistry, { id: "Quota", description: "A usage limit of a vendor, for one account." }),
);

export const listQuotas = defineOperation({
  name: "list_quotas",
  summary: "List the usage limits that sessions draw on: how much is used, when they reset, and which sessions wait.",
  method: "GET",
  path: "/v1/quotas",
  effect: "read",
  callers: { operator: "any", session: "none" },
  example: {},
  names: [],
  input: () => z.object({}),
  output: () =>
    z.object({
      quotas: z.array(quotaSchema).check(z.describe("Those that are reached first, then by account.")),
    }),

  async run(_input, context) {
    const shown = context.supervisor.quota.quotas().filter((quota) => quota.gate !== null || isTold(quota));
    return { quotas: shown.toSorted(closedFirst).map((quota) => viewQuota(quota, context)) };
  },
});

/** One that nobody named says nothing once it is over. */
function isTold({ limit }: Quota): boolean {
  return limit !== UNNAMED_LIMIT;
}

function closedFirst(one: Quota, other: Quota): number {
  return Number(one.gate === null) - Number(other.gate === null) || (one.id < other.id ? -1 : 1);
}

function viewQuota(quota: Quota, { supervisor }: OperationContext): z.infer<typeof quotaSchema> {
  const { gate } = quota;
  const sessions = supervisor.quota.sessionsOn(quota.account);
  const waiting = gate === null ? [] : sessions.filter((session) => supervisor.quota.parked(session)?.hasWork === true);
  return {
    account: stripTerminal(quota.account),
    limit: stripTerminal(quota.limit),
    status: gate?.phase ?? "open",
    used_percent: quota.usedPercent,
    resets_at: quota.resetsAt === null ? null : iso(quota.resetsAt),
    retry_at: gate === null ? null : iso(gate.dueAt),
    since: gate === null ? null : iso(gate.sinceAt),
    confidence: quota.confidence,
    source: quota.source,
    text: stripTerminal(quota.text),
    reported_by: quota.reportedBy,
    reported_at: iso(quota.reportedAt),
    failures: gate?.failures ?? 0,
    canary: gate?.canary?.sessionId ?? null,
    sessions: sessions.length,
    waiting: waiting.map(({ id, identity }) => ({ session_id: id, name: stripTerminal(identity.name) })),
  };
}
