/** Removes what is kept no longer, now, or says what would be removed and what stays, and why. */
import * as z from "zod/mini";
import { olderThan } from "../fleet/retention-settings.ts";
import { endOf } from "../fleet/retention.ts";
import { defineOperation } from "./contract.ts";
import { count, instant, text, yesOrNo } from "./field.ts";
import { iso } from "./session-view.ts";

/** Of each list; the counts are of all. */
const MOST_LISTED = 500;

const sessionFields = {
  session_id: text("The session."),
  name: text("Its name."),
  role: text("Its role."),
  agent: text("Its agent."),
  ended_at: instant("When it ended."),
  bytes: count("How many bytes are in its directory."),
};

export const prune = defineOperation({
  name: "prune",
  summary:
    "Remove what is kept no longer: ended sessions with their directories, old events, old mail. Reeve does this every hour by itself; with `dry_run` it only says what would go and what stays, and why.",
  method: "POST",
  path: "/v1/prune",
  effect: "end",
  callers: { operator: "any", session: "none" },
  example: { dry_run: true },
  names: [],
  input: () =>
    z.object({
      dry_run: z._default(z.boolean(), false).check(z.describe("Remove nothing.")),
      older_than_seconds: z.optional(z.number().check(z.minimum(0), z.maximum(3_153_600_000))).check(
        z.meta({
          description: "What is older goes, whatever the settings say; by default what they say.",
          "x-unit": "seconds",
        }),
      ),
    }),
  output: () =>
    z.object({
      dry_run: yesOrNo("Whether nothing was removed."),
      sessions: z
        .array(
          z.object({
            ...sessionFields,
            why: z
              .enum(["age", "count", "size"])
              .check(z.describe("Which setting it exceeds: ended_days, ended_sessions or outputs_megabytes.")),
          }),
        )
        .check(z.describe(`The sessions that went, or would go, oldest first; at most ${MOST_LISTED}.`)),
      session_count: count("How many there are of those."),
      session_bytes: count("How many bytes were, or are, in their directories."),
      kept: z
        .array(
          z.object({
            ...sessionFields,
            code: text("What keeps it, for programs."),
            why: text("What keeps it, in a sentence."),
          }),
        )
        .check(z.describe(`Ended sessions that exceed a setting too, and stay; at most ${MOST_LISTED}.`)),
      kept_count: count("How many there are of those."),
      events: count("How many events went, or would go."),
      mails: count("How many mails went, or would go."),
      work_items: count("How many items of work went, or would go."),
      compacted_bytes: count("How much smaller the database has become."),
      pruned_through: count("Events up to this one are no longer all there; 0: none was removed yet."),
    }),

  async run({ dry_run: isDry, older_than_seconds: seconds }, { store, supervisor, caller }) {
    const { retention } = supervisor.settings;
    const settings = seconds === undefined ? retention : olderThan(retention, seconds * 1_000);
    const pruned = await supervisor.retention.run({ settings, isDry, caller });
    const view = ({ session, bytes }: (typeof pruned.go)[number] | (typeof pruned.stay)[number]) => ({
      session_id: session.id,
      name: session.identity.name,
      role: session.identity.role,
      agent: session.identity.agent,
      ended_at: iso(endOf(session)),
      bytes,
    });
    return {
      dry_run: isDry,
      sessions: pruned.go.slice(0, MOST_LISTED).map((one) => ({ ...view(one), why: one.excess })),
      session_count: pruned.sessions,
      session_bytes: pruned.bytes,
      kept: pruned.stay.slice(0, MOST_LISTED).map((one) => ({ ...view(one), ...one.veto })),
      kept_count: pruned.stay.length,
      events: pruned.events,
      mails: pruned.mails,
      work_items: pruned.workItems,
      compacted_bytes: pruned.compactedBytes,
      pruned_through: store.log.prunedThrough(),
    };
  },
});
