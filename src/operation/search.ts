/** Looks for words in all transcripts, events and mail that the caller may read. */
import * as z from "zod/mini";
import { stripTerminal } from "../platform/terminal-text.ts";
import { ENTRY_KINDS, type FoundEntry, type Page } from "../search/contract.ts";
import { parseQuery } from "../search/query.ts";
import type { OperationContext } from "./contract.ts";
import { defineOperation } from "./contract.ts";
import { count, instant, text, textOrNull, yesOrNo, whenUsed } from "./field.ts";
import { badPage } from "./record-search.ts";
import { resolveSession, sessionReference } from "./session-reference.ts";
import { iso } from "./session-view.ts";

const foundSchema = whenUsed(() =>
  z
    .object({
      kind: z
        .enum(ENTRY_KINDS)
        .check(
          z.describe(
            "message: said by a person or an agent. tool: a call of a tool, or what it gave back. event, mail.",
          ),
        ),
      session_id: textOrNull("The session; of mail its recipient. Null: the operator, or an event of no session."),
      session: textOrNull("Its name; null where there is none, or the session was removed."),
      agent: textOrNull("The agent of the session."),
      role: textOrNull("The role of the session."),
      at: instant("When."),
      who: text(
        "Who says it (user, assistant, system), the name of the tool, the type of the event, or who sent the mail.",
      ),
      ref: textOrNull("Of an event its number, of mail its id, of a tool `call` or `result`; null otherwise."),
      excerpt: text("A line around what was found."),
      hits: z
        .array(z.object({ start: count("Where it begins, in UTF-16 units."), end: count("Just after its end.") }))
        .check(z.describe("Where in the excerpt it is.")),
      score: z.number().check(z.describe("How well it fits; higher is better. Only comparable within one answer.")),
    })
    .register(z.globalRegistry, { id: "Found", description: "Something that a search found." }),
);

export const indexSchema = whenUsed(() =>
  z
    .object({
      complete: yesOrNo("False: the index is being built, and not everything can be found yet."),
      sessions_done: count("Of the sessions that are read for that, how many were."),
      sessions: count("How many sessions are read for that; 0 when it is complete."),
      note: textOrNull("The same as a sentence; null when it is complete."),
    })
    .register(z.globalRegistry, { id: "SearchIndex", description: "How far the search index is." }),
);

export const search = defineOperation({
  name: "search",
  summary:
    'Search all transcripts, events and mail: plain words must all be there, "…" is a phrase, word* a beginning; the best of the newest hits first.',
  method: "GET",
  path: "/v1/search",
  effect: "read",
  callers: { operator: "any", session: "descendants" },
  example: { text: '"connection refused" migrat*', kind: "message", limit: 20 },
  names: ["session"],
  input: () =>
    z.object({
      text: z
        .string()
        .check(
          z.minLength(1, "some text"),
          z.maxLength(1_000),
          z.describe('Words that must all be there; "…" for a phrase, word* for how a word begins. In any case.'),
        ),
      session: z.optional(sessionReference).check(z.describe("Only of this session; of mail, to it or from it.")),
      agent: z.optional(z.string().check(z.maxLength(64))).check(z.describe("Only of sessions of this agent.")),
      role: z.optional(z.string().check(z.maxLength(64))).check(z.describe("Only of sessions with this role.")),
      kind: z.optional(z.enum(ENTRY_KINDS)).check(z.describe("Only this.")),
      since: timeField("Only from this time on."),
      until: timeField("Only before this time."),
      limit: z
        ._default(z.int().check(z.minimum(1), z.maximum(200)), 20)
        .check(z.meta({ description: "At most so many.", "x-unit": "hits" })),
      page: z.optional(z.string().check(z.maxLength(64))).check(z.describe("`next_page` of the answer before.")),
    }),
  output: () =>
    z.object({
      found: z.array(foundSchema).check(z.describe("The best first, of the newest few hundred that fit.")),
      next_page: textOrNull("Pass it as `page` to go on; null: there is no more."),
      index: indexSchema.check(z.describe("How far the index is that this was looked up in.")),
    }),

  async run(input, context) {
    parseQuery(input.text);
    const page = input.page === undefined ? null : pageOf(input.page);
    const { registry } = context.store;
    const sessionIds = context.scope.ids();
    const found = await context.supervisor.search.find({
      text: input.text,
      kinds: input.kind === undefined ? [] : [input.kind],
      sessionId: input.session === undefined ? null : resolveSession(registry, input.session).id,
      agent: input.agent ?? null,
      role: input.role ?? null,
      since: timeOf(input.since),
      until: timeOf(input.until),
      limit: input.limit,
      page,
      allowed:
        sessionIds === null || context.caller.kind !== "session" ? null : { sessionIds, mailOf: context.caller.id },
    });
    return {
      found: found.entries.map((entry) => viewFound(entry, context)),
      next_page: found.next === null ? null : `${found.next.before}-${found.next.offset}`,
      index: viewIndex(context),
    };
  },
});

export function timeField(description: string) {
  return z
    .optional(
      z.string().check(z.refine((given) => !Number.isNaN(Date.parse(given)), "a time, such as 2026-11-18T09:00")),
    )
    .check(z.meta({ description, format: "date-time" }));
}

export function timeOf(given: string | undefined): number | null {
  return given === undefined ? null : Date.parse(given);
}

function pageOf(name: string): Page {
  const [, before, offset] = /^(\d{1,15})-(\d{1,6})$/.exec(name) ?? [];
  if (before === undefined || offset === undefined) throw badPage(name);
  return { before: Number(before), offset: Number(offset) };
}

function viewFound(entry: FoundEntry, { store: { registry } }: OperationContext): z.infer<typeof foundSchema> {
  const { kind, sessionId, agent, role, at, who, ref, excerpt, score } = entry;
  const session = sessionId === null ? undefined : registry.get(sessionId);
  return {
    kind,
    session_id: sessionId,
    session: session === undefined ? null : stripTerminal(session.identity.name),
    agent,
    role,
    at: iso(at),
    who: stripTerminal(who),
    ref,
    excerpt: excerpt.text,
    hits: excerpt.hits.map(([start, end]) => ({ start, end })),
    score,
  };
}

export function viewIndex({ supervisor }: Pick<OperationContext, "supervisor">): z.infer<typeof indexSchema> {
  const { isComplete, sessionsDone, sessions } = supervisor.search.progress();
  const note = `The index is being built: ${sessionsDone} of ${sessions} sessions are in, so not everything is found yet. Ask again in a moment.`;
  return { complete: isComplete, sessions_done: sessionsDone, sessions, note: isComplete ? null : note };
}
