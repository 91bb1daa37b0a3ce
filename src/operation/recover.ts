/**
 * What somebody needs to know who comes back to a session after a restart: one
 * short report, unread mail first, each statement with where it comes from and
 * from when. It fits a model's context unless details are asked for.
 */
import * as z from "zod/mini";
import { redact } from "../capture/redaction.ts";
import type { LayerFact } from "../fleet/recovery.ts";
import { RECOVERY_SECTIONS, recoverySections } from "../fleet/recovery-sections.ts";
import { MOST_RECOVERY_BYTES, recoveryText } from "../fleet/recovery-text.ts";
import { ReeveError } from "../platform/reeve-error.ts";
import { stripTerminal } from "../platform/terminal-text.ts";
import type { Session } from "../session/session.ts";
import { gatherRecovery } from "../supervisor/recovery/gather.ts";
import type { OperationContext } from "./contract.ts";
import { defineOperation } from "./contract.ts";
import { instant, instantOrNull, text, yesOrNo, whenUsed } from "./field.ts";
import { resolveSession, sessionReference } from "./session-reference.ts";
import { iso } from "./session-view.ts";

const statementSchema = whenUsed(() =>
  z.object({
    text: text("What is so."),
    source: text("Where that comes from: record, log, mailbox, queue, transcript, git, reflog, …"),
    at: instantOrNull("From when it is; null where nobody knows."),
    known: yesOrNo("False: it says what could not be found out."),
  }),
);

export const recover = defineOperation({
  name: "recover",
  summary:
    "What to know after a restart of a session: unread mail, wakes, the newest prompt, its checkout, its last turn, and the next safe step.",
  method: "GET",
  path: "/v1/recover",
  effect: "read",
  callers: { operator: "any", session: "descendants" },
  example: { session: "fix" },
  names: ["session"],
  input: () =>
    z.object({
      session: z.optional(sessionReference).check(z.describe("Which session; inside a session by default itself.")),
      details: z._default(z.boolean(), false).check(z.describe("All of it, however long.")),
    }),
  output: () =>
    z.object({
      session_id: text("The session."),
      name: text("Its name."),
      asked_at: instant("When Reeve looked."),
      text: text("The report; without `details` less than 4 KB, the most important first."),
      sections: z
        .optional(
          z.array(
            z.object({
              section: z.enum(RECOVERY_SECTIONS).check(z.describe("What it is about.")),
              title: text("Its title."),
              statements: z.array(statementSchema).check(z.describe("The most important first.")),
              more: text("The command that tells more about it."),
            }),
          ),
        )
        .check(z.describe("With `details`: all statements, in the order in which to read them.")),
    }),

  async run({ session: reference, details }, context) {
    const session = meant(reference, context);
    const { supervisor, store, clock, caller } = context;
    const isOwn = caller.kind !== "session" || caller.id === session.id;
    const facts = await gatherRecovery({
      session,
      store,
      clock,
      agent: supervisor.agent(session.identity.agent),
      files: supervisor.runtime(session.identity.runtime).files,
      unread: supervisor.mail.unreadMails(session.id),
      mails: isOwn ? supervisor.mail.records : null,
      due: async () => (await supervisor.wakes.due(session)).events,
      work: supervisor.work.open().filter(({ flight }) => flight?.sessionId === session.id),
      secrets: () => supervisor.secretsOf(session),
      redact,
      layers: await layersOf(session, context),
    });
    const sections = recoverySections(facts);
    const mostBytes = details ? null : MOST_RECOVERY_BYTES;
    return {
      session_id: session.id,
      name: session.identity.name,
      asked_at: iso(facts.now),
      text: recoveryText(sections, { session: facts.session, now: facts.now, mostBytes }),
      ...(details ? { sections: sections.map(viewSection) } : {}),
    };
  },
});

/** Whoever has just come back waits for the rest: what takes longer is left to `reeve doctor`. */
const LAYERS_MS = 1_200;

/** What is not healthy, and the names of the rest; null: there was no time to look. */
async function layersOf(
  session: Session,
  { supervisor, clock }: Pick<OperationContext, "supervisor" | "clock">,
): Promise<readonly LayerFact[] | null> {
  const late = new AbortController();
  const looked = supervisor.diagnosis.ofSession(session, []).catch(() => null);
  const findings = await Promise.race([looked, clock.sleep(LAYERS_MS, late.signal).then(() => null)]);
  late.abort();
  if (findings === null) return null;
  const well = findings.filter(({ verdict }) => verdict === "healthy").map(({ layer }) => layer);
  const ill = findings
    .filter(({ verdict }) => verdict !== "healthy")
    .map(({ layer, verdict, mechanism, text: detail }) => ({
      layer,
      verdict: `${verdict.replace("-", " ")}${mechanism === null ? "" : ` (${mechanism})`}`,
      detail: stripTerminal(detail),
    }));
  const rest =
    well.length === 0
      ? []
      : [{ layer: well.join(", "), verdict: "healthy", detail: "Tried by Reeve and from where the session lives." }];
  return [...ill, ...rest];
}

function viewSection({ section, title, statements, more }: ReturnType<typeof recoverySections>[number]) {
  return {
    section,
    title,
    statements: statements.map(({ text: said, source, at, isKnown }) => ({
      text: said,
      source,
      at: at === null ? null : iso(at),
      known: isKnown,
    })),
    more,
  };
}

function meant(reference: string | undefined, { store, caller }: OperationContext): Session {
  if (reference !== undefined) return resolveSession(store.registry, reference);
  const own = caller.kind === "session" ? store.registry.get(caller.id) : undefined;
  if (own !== undefined) return own;
  const names = store.registry.living().map(({ identity }) => identity.name);
  const hint = names.length === 0 ? "reeve list --all shows those that ended" : `such as reeve recover ${names[0]}`;
  throw new ReeveError({
    code: "no-session-named",
    kind: "usage",
    message: `Say which session; only inside a session Reeve knows which one is meant (${hint}).`,
  });
}
