/** Tells the story of a session, page by page: everything that is known of it, in the order in which it happened. */
import * as z from "zod/mini";
import { ReeveError } from "../platform/reeve-error.ts";
import { STORY_KINDS } from "../session/story/entry.ts";
import { pageOf, parseCursor, type StoryCursor } from "../session/story/page.ts";
import { findImport, readImportedStory } from "../supervisor/story/imports.ts";
import { defineOperation } from "./contract.ts";
import { text, yesOrNo } from "./field.ts";
import { importSchema, viewImport } from "./import-view.ts";
import { resolveSession, sessionReference } from "./session-reference.ts";
import { sessionViewSchema, viewSession } from "./session-view.ts";
import { storyEntrySchema, storyOf } from "./story-view.ts";

/** Of one answer, about. */
const MOST_BYTES = 1_048_576;
const MOST_ENTRIES = 1_000;

export const showSession = defineOperation({
  name: "show_session",
  summary:
    "The story of a session as one timeline: turns, what was said, tool calls, model calls, approvals, health, restarts, mail and branches. Also of one that has ended.",
  method: "GET",
  path: "/v1/sessions/{session}/story",
  effect: "read",
  callers: { operator: "any", session: "descendants" },
  example: { session: "fix", errors: true },
  names: ["session"],
  input: () =>
    z.object({
      session: sessionReference.check(
        z.describe(
          "A session: its id, its name, or the beginning of its id. For the operator also an import, by its id.",
        ),
      ),
      only: z
        ._default(z.array(z.enum(STORY_KINDS)), [])
        .check(z.describe("Only entries of these kinds. By default all but `inbox` and `activity`.")),
      turn: z.optional(z.int().check(z.minimum(1))).check(z.describe("Only what happened in this turn.")),
      errors: z._default(z.boolean(), false).check(z.describe("Only what failed.")),
      from: z
        .optional(z.iso.datetime({ offset: true, error: "a time such as 2026-11-18T09:00:00Z" }))
        .check(z.describe("Only what happened at this time or later.")),
      last: z
        .optional(z.int().check(z.minimum(1), z.maximum(1_000_000)))
        .check(z.meta({ description: "Only the last so many of them.", "x-unit": "entries" })),
      since: z
        .optional(z.string().check(z.maxLength(64)))
        .check(z.describe("The `cursor` of an earlier answer: only what it did not have.")),
      limit: z
        ._default(z.int().check(z.minimum(1), z.maximum(MOST_ENTRIES)), MOST_ENTRIES)
        .check(z.meta({ description: "At most so many; fewer where they are long.", "x-unit": "entries" })),
    }),
  output: () =>
    z.object({
      session: z.nullable(sessionViewSchema).check(z.describe("The session as it is now; null: it was imported.")),
      imported: z.nullable(importSchema).check(z.describe("Where it comes from; null: it is a session of this home.")),
      entries: z.array(storyEntrySchema).check(z.describe("In the order in which they happened.")),
      cursor: text("Pass it as `since` to read on, without `last`."),
      more: yesOrNo("Whether there is more to read on with."),
      gaps: z.array(z.string()).check(z.describe("What could not be read, one sentence each.")),
    }),

  async run({ session: reference, since, limit, only, ...wish }, context) {
    const cursor = since === undefined ? undefined : cursorIn(since);
    // Of a session that calls, the door has made an id of this home.
    const imported = await findImport(context.outputsDir, reference);
    const session = imported === null ? resolveSession(context.store.registry, reference) : null;
    const { entries, gaps } =
      imported !== null
        ? await readImportedStory(imported)
        : (await storyOf(context, resolveSession(context.store.registry, reference))).story;
    const kinds = only.length === 0 ? undefined : only;
    const page = pageOf(
      entries,
      { ...wish, only: kinds },
      { limit, mostBytes: MOST_BYTES, ...(cursor === undefined ? {} : { since: cursor }) },
    );
    return {
      session: session === null ? null : viewSession(session, context.supervisor.about(session)),
      imported: imported === null ? null : viewImport(imported),
      entries: page.entries.map((entry) => ({ ...entry, data: { ...entry.data } })),
      cursor: page.cursor,
      more: page.hasMore,
      gaps: [...gaps],
    };
  },
});

function cursorIn(given: string): StoryCursor {
  const cursor = parseCursor(given);
  if (cursor !== null) return cursor;
  throw new ReeveError({
    code: "bad-cursor",
    kind: "usage",
    message: `"${given}" is no cursor of a story; give the cursor of an earlier answer, such as 120.48.7.`,
  });
}
