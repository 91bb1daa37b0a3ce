/** The evidence behind what is said of a session: which source said what, which won, and why. */
import * as z from "zod/mini";
import { stripTerminal } from "../platform/terminal-text.ts";
import type { LoggedEvent, SessionEvent } from "../session/event.ts";
import { backgroundText } from "../session/background.ts";
import { healthOf, type HealthVerdict } from "../session/health.ts";
import type { Evidence, Session, LastTurn } from "../session/session.ts";
import { pausedSentence } from "../session/pause-sentence.ts";
import { isWitness } from "../session/witness.ts";
import type { Store } from "../store/contract.ts";
import { defineOperation } from "./contract.ts";
import { count, cursor, instant, text, textOrNull, whenUsed } from "./field.ts";
import { notificationsSchema, viewNotifications } from "./notifications-view.ts";
import { waitingFor } from "./send-message.ts";
import { parkedEvidence } from "./parked-view.ts";
import { resolveSession, sessionReference } from "./session-reference.ts";
import { timeOutsSchema, viewTimeOuts } from "./time-outs-view.ts";
import { evidenceSchema, iso, sessionViewSchema, viewSession } from "./session-view.ts";

/** Disagreements are rare; the newest are enough to see a pattern. */
const MOST_DISPUTES = 20;
const PAGE = 5_000;

const claimSchema = whenUsed(() =>
  z
    .object({
      claim: text("What Reeve says."),
      because: text("Why it says so."),
      evidence: z
        .nullable(evidenceSchema)
        .check(z.describe("What was reported, and by whom; null where nobody reported anything.")),
    })
    .register(z.globalRegistry, { id: "Claim", description: "Something that Reeve says about a session, and why." }),
);

export const explainSession = defineOperation({
  name: "explain_session",
  summary: "Show why Reeve says what it says about a session: which source reported what, and what counted.",
  method: "GET",
  path: "/v1/sessions/{session}/explain",
  effect: "read",
  callers: { operator: "any", session: "descendants" },
  example: { session: "fix" },
  names: ["session"],
  input: () => z.object({ session: sessionReference }),
  output: () =>
    z.object({
      session: sessionViewSchema.check(z.describe("The session as it is now.")),
      mode: z
        .object({
          name: text("A short name, such as `hooks` or `app-server`."),
          text: text("What that means."),
          version: textOrNull("The version of the agent's program; null where it could not be read."),
        })
        .check(z.describe("How the session is watched.")),
      paused: textOrNull("That it is paused, and what lets it go on; null where it is not."),
      channel: textOrNull("The state of the connection to the agent's own protocol; null where it has none."),
      liveness: claimSchema.check(z.describe("Whether its process is there.")),
      observability: claimSchema.check(z.describe("Whether its transcript can be read.")),
      activity: claimSchema.check(z.describe("What it is doing.")),
      health: claimSchema.check(z.describe("How it fares.")),
      unkept: z
        .array(z.string())
        .check(z.describe("With `persist_session`: what cannot be kept of it now and why, a sentence each.")),
      signs: z
        .array(z.string())
        .check(
          z.describe(
            "What its processes, its terminal and its protocol showed when Reeve last looked; empty while nothing is expected of them.",
          ),
        ),
      timeouts: timeOutsSchema.check(z.describe("After how long Reeve does something about it, and what has passed.")),
      turn: z.nullable(claimSchema).check(z.describe("How its newest turn stands; null where it has had none.")),
      messages: z
        .array(
          z.object({
            message_id: text("The message."),
            state: text("admitted: it waits. leased: it is being typed."),
            detail: textOrNull("What it waits for; null where that is not known."),
            sent_by: textOrNull("Who sent it: `operator`, `session:<id>` or `system`."),
          }),
        )
        .check(z.describe("Messages that have no outcome yet, oldest first.")),
      wakes: z
        .object({
          notifications: notificationsSchema.check(z.describe("Who is woken for this session, for what, and how.")),
          acknowledged: cursor("Up to here it knows what happened to the sessions that it started."),
          waiting: count("How many events and mails it has not been told of yet, and will be woken for."),
          message_id: textOrNull("The wake that waits to be given to it, or is being given; null where there is none."),
        })
        .check(z.describe("Who is woken for it, and what it is woken for.")),
      sources: z
        .array(
          z.object({
            source: text("Who reported it: protocol, hook, transcript, status or screen."),
            said: textOrNull("What it reported about the activity; null where it reported something else."),
            detail: text("Its words."),
            at: instant("When."),
            weight: text("Whether that counted, and why."),
          }),
        )
        .check(z.describe("The last report of each source since this daemon was started, newest first.")),
      disputes: z
        .array(
          z.object({
            turn: count("Which turn."),
            counted: text("The outcome that counts, with its source."),
            other: text("The outcome that another source reported."),
            detail: text("The words of the later source."),
          }),
        )
        .check(z.describe("Turns whose end two sources reported differently, newest first.")),
    }),

  async run(input, context) {
    const { store, supervisor } = context;
    const disputes = disputesOf(await disputed(store, resolveSession(store.registry, input.session).id));
    const due = await supervisor.wakes.due(resolveSession(store.registry, input.session));
    const session = resolveSession(store.registry, input.session);
    const { lastWords, signs, channel, obstacle, unkept } = supervisor.testimony(session);
    return {
      session: viewSession(session, supervisor.about(session)),
      mode: { name: session.watch.mode, text: session.watch.text, version: session.watch.version },
      paused: pausedSentence(session),
      channel,
      liveness: claim(
        session.process.liveness.status,
        "Only the runtime is asked about this.",
        session.process.liveness.evidence,
      ),
      observability: {
        claim: session.watch.observability.status,
        because: stripTerminal(session.watch.observability.reason),
        evidence: null,
      },
      activity: claim(
        session.conversation.activity.status,
        `${backgroundSentence(session)}${whyCounted(session.conversation.activity.evidence.source)}`,
        session.conversation.activity.evidence,
      ),
      health: healthClaim(session, parkedEvidence(supervisor.about(session).parked)),
      signs: [...signs],
      unkept: unkept.map(stripTerminal),
      timeouts: viewTimeOuts(session, supervisor.timeOuts(session), context.clock.moment()),
      turn: turnClaim(session),
      messages: store.mailbox.open(session.id).map((message) => ({
        message_id: message.id,
        state: message.state,
        detail: waitingFor(session, obstacle, message),
        sent_by: message.caller,
      })),
      wakes: {
        notifications: viewNotifications(context, session),
        acknowledged: session.wakes.acknowledged,
        waiting: due.events.length + due.mails.length,
        message_id: session.wakes.open?.messageId ?? null,
      },
      sources: lastWords
        .toSorted((one, other) => other.at - one.at)
        .map(({ source, said, detail, at, weight }) => ({
          source,
          said,
          detail: stripTerminal(detail),
          at: iso(at),
          weight,
        })),
      disputes,
    };
  },
});

function backgroundSentence({ conversation: { background } }: Session): string {
  const [holding, others] = [background.filter(({ holds }) => holds), background.filter(({ holds }) => !holds)];
  const works = holding.length === 0 ? "" : `It works in the background: ${stripTerminal(backgroundText(holding))}. `;
  const runs = others.length === 0 ? "" : `Left running in the background: ${stripTerminal(backgroundText(others))}. `;
  return `${works}${runs}`;
}

/** By the table of session/witness.ts. */
export function whyCounted(source: Evidence["source"]): string {
  if (isWitness(source))
    return "The agent itself reported this, by protocol, hook or transcript, and its newest report counts. A status file or a screen that says something else counts only if it does not change.";
  switch (source) {
    case "status":
      return "Its status file says so. That counts if the agent itself has reported nothing, or if the file has said so for a while; a screen counts less.";
    case "screen":
      return "Its screen or title shows it. That counts if no other source has reported anything, or if it has been shown for a while.";
    default:
      return "The agent has not reported yet what it does.";
  }
}

function claim(status: string, because: string, evidence: Evidence): z.infer<typeof claimSchema> {
  return {
    claim: status,
    because,
    evidence: { source: evidence.source, detail: stripTerminal(evidence.detail), at: iso(evidence.at) },
  };
}

const HEALTH_REASONS = {
  healthy: "Nothing speaks against it.",
  slow: "Little is heard from its turn, but it is at work.",
  parked: "It waits until a usage limit resets.",
  stalled: "Nothing was heard from its turn for longer than stall_seconds, and no command of it used the processor.",
  hung: "Two looks in a row showed that its process cannot run although it should.",
  unreachable: "Its runtime did not answer twice in a row.",
  crashed: "Its process ended, or could not be started.",
  "crash-looping": "It was restarted several times, and is down again.",
} as const satisfies Record<HealthVerdict, string>;

function healthClaim(session: Session, parked: Evidence | null): z.infer<typeof claimSchema> {
  const { verdict, evidence } = healthOf(session, { parked });
  return claim(verdict, HEALTH_REASONS[verdict], evidence);
}

function turnClaim({
  conversation: { turns, turnOpen, lastTurn, stalledAt },
}: Session): z.infer<typeof claimSchema> | null {
  if (turns === 0) return null;
  const id = lastTurn?.id === null || lastTurn === null ? "" : ` (${stripTerminal(lastTurn.id)})`;
  const verdict = turnOpen
    ? stalledAt === null
      ? "under way"
      : "stalled"
    : (lastTurn?.verdict ?? "ended, but nobody saw how");
  return { claim: `turn ${turns}${id}: ${verdict}`, because: verdictReason(turns, lastTurn), evidence: null };
}

function verdictReason(turns: number, lastTurn: LastTurn | null): string {
  const source = lastTurn?.verdictSource ?? null;
  if (lastTurn === null || source === null) return "No source has reported its end.";
  return lastTurn.inferred.some((end) => end.turn === turns)
    ? `Concluded from ${source}; a source that saw the end would correct it.`
    : `${source} was the first source to report its end.`;
}

async function disputed(store: Store, sessionId: string): Promise<readonly LoggedEvent[]> {
  const events: LoggedEvent[] = [];
  const types = ["turn-disputed", "turn-corrected"] as const;
  for (let after = 0; ;) {
    const page = await store.log.read({ after, limit: PAGE, sessionIds: [sessionId], types });
    events.push(...page);
    after = page.at(-1)?.seq ?? after;
    if (page.length < PAGE) return events;
  }
}

type Dispute = Extract<SessionEvent, { type: "turn-disputed" | "turn-corrected" }>;

function disputesOf(events: readonly LoggedEvent[]) {
  return events
    .map(({ body }) => body)
    .filter((body): body is Dispute => body.type === "turn-disputed" || body.type === "turn-corrected")
    .slice(-MOST_DISPUTES)
    .reverse()
    .map((body) => ({ turn: body.turn, ...sidesOf(body), detail: stripTerminal(body.evidence.detail) }));
}

function sidesOf(body: Dispute): { readonly counted: string; readonly other: string } {
  const told = body.evidence.source;
  return body.type === "turn-disputed"
    ? { counted: `${body.counted} (${body.countedSource})`, other: `${body.other} (${told})` }
    : { counted: `${body.verdict} (${told})`, other: `${body.was} (${body.wasSource})` };
}
