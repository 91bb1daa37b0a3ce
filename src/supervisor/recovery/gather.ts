/**
 * Gathers what a recovery tells (fleet/recovery.ts), each source for itself and
 * all at once. A source that fails or takes too long is told as not found out;
 * it never keeps the others. It only reads.
 */
import type { Agent, TranscriptMessage } from "../../agent/contract.ts";
import { youngEnough } from "../../fleet/due-wake.ts";
import { clipped, type Mail } from "../../fleet/mail.ts";
import type {
  DoingFact,
  Found,
  LayerFact,
  MailFact,
  PromptFact,
  RecoveryFacts,
  TurnFact,
  WakeFacts,
} from "../../fleet/recovery.ts";
import type { WorkItem } from "../../fleet/work.ts";
import type { Clock } from "../../platform/clock.ts";
import { messageOf } from "../../platform/reeve-error.ts";
import { stripTerminal } from "../../platform/terminal-text.ts";
import type { SessionFiles } from "../../runtime/session-files.ts";
import { callerText } from "../../session/caller-text.ts";
import { type EventType, TURN_ENDS } from "../../session/event.ts";
import { eventSentence } from "../../session/event-sentence.ts";
import { isEnded, type Session } from "../../session/session.ts";
import { shownData } from "../../session/shown-event.ts";
import type { DueEvent } from "../../fleet/due-wake.ts";
import type { UnreadMail } from "../../fleet/unread-mail.ts";
import type { Records, Store } from "../../store/contract.ts";
import { type Absence, checkoutFacts } from "./checkout-facts.ts";
import { newestMessages, newestPrompt, unansweredCall } from "./transcript-facts.ts";

export interface RecoverySources {
  readonly session: Session;
  readonly store: Pick<Store, "log" | "mailbox" | "registry">;
  readonly clock: Clock;
  readonly agent: Pick<Agent, "readMessages" | "impediment" | "capabilities">;
  readonly files: SessionFiles;
  /** Its unread mail, and the records of it; null: whoever asks may not read it. */
  readonly unread: readonly UnreadMail[];
  readonly mails: Pick<Records<Mail>, "get"> | null;
  readonly due: () => Promise<readonly DueEvent[]>;
  readonly work: readonly WorkItem[];
  /** The values that must not be told. */
  readonly secrets: () => Promise<readonly string[]>;
  readonly redact: (text: string, secrets: readonly string[]) => string;
  readonly layers: readonly LayerFact[] | null;
}

/** Of one source. Most answer within 50 ms; one that hangs (a network disk, git in a huge tree) is left out. */
const LIMIT_MS = 10_000;

export async function gatherRecovery(sources: RecoverySources): Promise<RecoveryFacts> {
  const { session, clock } = sources;
  const now = clock.now();
  const within = <T>(what: Promise<T>): Promise<Found<T>> => limited(clock, what);
  const away = absenceOf(sources, now);
  const said = within(conversationOf(sources));
  const [mail, wakes, prompt, checkout, turn, doings] = await Promise.all([
    within(mailOf(sources)),
    within(wakesOf(sources)),
    said.then((found) => promptOf(sources, found)),
    within(away.then((absence) => checkoutFacts(sources.files, session, { absence, now, timeoutMs: LIMIT_MS }))),
    said.then((found) => within(turnOf(sources, found))),
    within(doingsOf(sources)),
  ]);
  const { process, identity } = session;
  return {
    now,
    session: {
      id: session.id,
      name: identity.name,
      agent: identity.agent,
      state: session.state,
      reason: stripTerminal(session.reason.text),
      reasonAt: session.reason.evidence.at,
      incarnation: process.incarnation,
      startedAt: process.startedAt,
      isEnded: isEnded(session),
      isRunning: process.exit === null && process.liveness.status === "running",
    },
    mail,
    wakes,
    prompt,
    checkout,
    turn,
    messages: sources.store.mailbox.open(session.id).map(({ id, caller, state, text, admittedAt }) => ({
      id,
      by: callerText(caller ?? "somebody"),
      state: state === "leased" ? "leased" : "admitted",
      text: stripTerminal(text),
      at: admittedAt,
    })),
    doings,
    work: sources.work.map(({ id, title, state, flight, changedAt }) => ({
      id,
      title: stripTerminal(title),
      state,
      since: flight?.since ?? changedAt,
    })),
    layers: sources.layers,
  };
}

async function limited<T>(clock: Clock, what: Promise<T>): Promise<Found<T>> {
  const over = new AbortController();
  const tooLong = clock.sleep(LIMIT_MS, over.signal).then(() => {
    throw new Error(`it took longer than ${LIMIT_MS / 1_000} s`);
  });
  try {
    return { known: true, value: await Promise.race([what, tooLong]), at: clock.now() };
  } catch (error) {
    return { known: false, why: stripTerminal(messageOf(error)).replace(/\.$/, ""), at: clock.now() };
  } finally {
    over.abort();
    tooLong.catch(() => undefined);
  }
}

/** From the end of the process before to the start of this one. */
async function absenceOf({ session, store }: RecoverySources, now: number): Promise<Absence | null> {
  const { incarnation, exit, startedAt, endedAt } = session.process;
  if (exit !== null) return { from: endedAt ?? exit.at, until: now };
  if (incarnation <= 1) return null;
  const ended = await store.log.latest({ sessionId: session.id, types: ["session-exited"] });
  const from = ended?.at ?? session.conversation.cutShort?.at;
  return from === undefined ? null : { from, until: startedAt ?? now };
}

/** More are counted, but not read. */
const MOST_MAILS = 50;
const PREVIEW = 300;

async function mailOf({ unread, mails, store }: RecoverySources): Promise<readonly MailFact[]> {
  const first = unread.toSorted((one, other) => Number(other.kind === "hand-off") - Number(one.kind === "hand-off"));
  return await Promise.all(
    first.map(async ({ mailId, seq, sentAt, from, kind, priority }, index) => {
      const mail = mails === null || index >= MOST_MAILS ? undefined : await mails.get(mailId);
      const id = from.replace(/^session:/, "");
      const name = mail?.from.name ?? store.registry.get(id)?.identity.name ?? null;
      return {
        id: mailId,
        from: name === null ? callerText(from) : `session ${stripTerminal(name)}`,
        kind,
        priority,
        subject: mail === undefined ? null : stripTerminal(mail.subject),
        preview: mail === undefined ? "" : clipped(stripTerminal(mail.body.slice(0, PREVIEW * 4)), PREVIEW),
        seq,
        sentAt,
      };
    }),
  );
}

const PAGE = 1_000;

async function wakesOf({ session, store, due, clock }: RecoverySources): Promise<WakeFacts> {
  const { exit, incarnation, startedAt, endedAt } = session.process;
  const given: WakeFacts["given"][number][] = [];
  for (let after = 0; ;) {
    const page = await store.log.read({ after, limit: PAGE, sessionIds: [session.id], types: ["wake-sent"] });
    for (const { at, body, seq } of page) {
      after = seq;
      if (body.type === "wake-sent") given.push({ since: body.since, through: body.through, count: body.count, at });
    }
    if (page.length < PAGE) break;
  }
  const waiting = await due();
  const young = youngEnough(waiting, clock.now());
  return {
    restartedAt: exit === null ? (incarnation > 1 ? startedAt : null) : endedAt,
    given,
    due: young.map(({ name, reason, at }) => ({ name, reason, at })),
    stale: waiting.length - young.length,
  };
}

interface Conversation {
  /** Null: its agent keeps no transcript. */
  readonly messages: readonly TranscriptMessage[] | null;
  readonly clean: (text: string) => string;
}

async function conversationOf({ session, agent, files, secrets, redact }: RecoverySources): Promise<Conversation> {
  const [messages, values] = await Promise.all([newestMessages(session, agent, files), secrets()]);
  return { messages, clean: (text) => redact(stripTerminal(text), values) };
}

/** Enough for one line; a prompt may be a whole file. */
const MOST_PROMPT = 2_000;

/** By the transcript; where that says nothing, what Reeve itself gave to it. */
function promptOf({ session, store, clock }: RecoverySources, said: Found<Conversation>): Found<PromptFact | null> {
  const at = clock.now();
  const found = said.known ? newestPrompt(said.value.messages ?? []) : null;
  if (said.known && found !== null) {
    const text = said.value.clean(found.text.slice(0, MOST_PROMPT));
    const time = found.at === null ? Number.NaN : Date.parse(found.at);
    return { known: true, at, value: { text, at: Number.isNaN(time) ? null : time, source: "transcript" } };
  }
  const typed = store.mailbox.typed(session.id, 20).find(({ caller }) => caller !== "system");
  if (typed !== undefined) {
    const text = stripTerminal(typed.text.slice(0, MOST_PROMPT));
    return { known: true, at, value: { text, at: typed.admittedAt, source: "message" } };
  }
  const { launch, createdAt } = session.identity;
  if (launch.prompt !== null)
    return {
      known: true,
      at,
      value: { text: stripTerminal(launch.prompt.slice(0, MOST_PROMPT)), at: createdAt, source: "start" },
    };
  return said.known ? { known: true, value: null, at } : said;
}

async function turnOf({ session, store }: RecoverySources, said: Found<Conversation>): Promise<TurnFact | null> {
  const { turns, turnOpen, lastTurn, cutShort, activity } = session.conversation;
  if (turns === 0) return null;
  const ended = await store.log.latest({ sessionId: session.id, types: TURN_ENDS });
  // The first turn after a restart is the one in which somebody looks: what was cut short before it is still the news.
  const isCut = cutShort !== null && turns - cutShort.turn <= 1;
  if (isCut && !(turns === cutShort.turn && lastTurn?.verdict === "completed")) {
    const call = callOf(said, cutShort.at);
    return {
      turn: cutShort.turn,
      how: said.known && said.value.messages !== null ? "cut-short" : "lost",
      source: "runtime",
      at: cutShort.at,
      error: null,
      ...call,
      later: turns > cutShort.turn ? turns : null,
    };
  }
  const how = turnOpen ? "under-way" : (lastTurn?.verdict ?? "cut-short");
  const endedAt = ended?.body !== undefined && "turn" in ended.body && ended.body.turn === turns ? ended.at : null;
  const isStopped = how === "interrupted" || how === "cut-short";
  return {
    turn: turns,
    how,
    source: lastTurn?.verdictSource ?? activity.evidence.source,
    at: turnOpen ? (lastTurn?.startedAt ?? null) : endedAt,
    error: lastTurn?.error === null || lastTurn === null ? null : stripTerminal(lastTurn.error),
    ...(isStopped ? callOf(said, endedAt ?? Number.POSITIVE_INFINITY) : { call: null, callUnknown: null }),
    later: null,
  };
}

const MOST_INPUT = 400;

function callOf(said: Found<Conversation>, before: number): Pick<TurnFact, "call" | "callUnknown"> {
  if (!said.known) return { call: null, callUnknown: said.why };
  const { messages, clean } = said.value;
  if (messages === null) return { call: null, callUnknown: "its agent keeps no transcript" };
  const found = unansweredCall(messages, before);
  if (found?.tool === null || found === null) return { call: null, callUnknown: null };
  const { name, input } = found.tool;
  const at = found.at === null ? null : Date.parse(found.at);
  return { call: { tool: clean(name), input: clean((input ?? "").slice(0, MOST_INPUT)), at }, callUnknown: null };
}

const DOINGS = [
  "session-adopted",
  "session-exited",
  "restart-requested",
  "restart-scheduled",
  "restart-abandoned",
  "session-starting",
  "session-running",
  "environment-lost",
  "session-paused",
  "session-resumed",
  "session-errored",
  "session-stopped",
  "end-requested",
  "wake-sent",
] as const satisfies readonly EventType[];

/** Of a busy session the last of these lie within so many events. */
const LOOKED_AT = 2_000;
const MOST_DOINGS = 20;

async function doingsOf({ session, store }: RecoverySources): Promise<readonly DoingFact[]> {
  const after = store.log.newestFrom(session.id, LOOKED_AT);
  const events = await store.log.read({ after, limit: LOOKED_AT, sessionIds: [session.id], types: DOINGS });
  return events
    .filter(({ body }) => body.type !== "wake-sent" || body.isRecovery === true)
    .slice(-MOST_DOINGS)
    .toReversed()
    .map(({ at, body: { type, ...data }, caller, via }) => ({
      what: eventSentence({ type, data: shownData(data), caller, via, session_id: session.id }),
      at,
    }));
}
