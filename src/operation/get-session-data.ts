/**
 * Returns what a session said: its transcript if that can be read, otherwise
 * its screen, and says which of the two it is. A known session is never "not
 * found". At most 48 KB; the beginning is cut off, never inside a character.
 */
import * as z from "zod/mini";
import type { Agent, TranscriptMessage } from "../agent/contract.ts";
import type { Moment } from "../platform/clock.ts";
import { readPlainFileIfFit } from "../platform/plain-file.ts";
import type { SessionFiles } from "../runtime/session-files.ts";
import { messageOf } from "../platform/reeve-error.ts";
import { keepTail, stripControls, stripTerminal } from "../platform/terminal-text.ts";
import type { EventBody, LoggedEvent } from "../session/event.ts";
import { isTurnEnd, TURN_ENDS } from "../session/event.ts";
import type { Message } from "../session/message.ts";
import { elapsedMs } from "../session/moment.ts";
import { finalScreenPath } from "../session/session-directory.ts";
import type { Session } from "../session/session.ts";
import type { EventLog } from "../store/contract.ts";
import { targetOf } from "../supervisor/ledger/target.ts";
import type { OperationContext } from "./contract.ts";
import { defineOperation } from "./contract.ts";
import { instant, since, text, textOrNull, yesOrNo, whenUsed } from "./field.ts";
import { resolveSession, sessionReference } from "./session-reference.ts";
import { iso, sessionViewSchema, usageSchema, viewSession } from "./session-view.ts";
import { isShown, takenMessage } from "./taken-message.ts";

const MOST_TAIL_BYTES = 49_152;
/** Lines of scrollback that can hold the largest tail at the usual width. */
const SCREEN_LINES = 2_000;

const messageSchema = whenUsed(() =>
  z
    .object({
      role: z.enum(["user", "assistant", "tool", "system"]).check(z.describe("Who speaks.")),
      text: text("What was said."),
      tool: z
        .nullable(
          z.object({
            id: textOrNull("The agent's own id of the call; its result has the same."),
            name: text("The tool."),
            input: textOrNull("What it was called with; null in a result."),
            is_error: yesOrNo("Whether the tool failed."),
          }),
        )
        .check(z.describe("Of a tool call (role assistant) or of its result (role tool); null otherwise.")),
      usage: z.nullable(usageSchema).check(z.describe("What this message cost, where the agent says so.")),
      at: textOrNull("When, as the agent wrote it down; null where it did not."),
      turn: textOrNull("The agent's own name of the turn; null where it has none."),
    })
    .register(z.globalRegistry, { id: "Message", description: "One message of an agent's own transcript." }),
);

const sourceSchema = z.enum(["transcript", "screen"]);

export const getSessionData = defineOperation({
  name: "get_session_data",
  summary:
    "What a session said last: messages of its transcript, or its screen where there is no transcript to read (yet).",
  method: "GET",
  path: "/v1/sessions/{session}/data",
  effect: "read",
  callers: { operator: "any", session: "descendants" },
  example: { session: "fix", tail: 4_096 },
  names: ["session"],
  input: () =>
    z.object({
      session: sessionReference,
      tail: z._default(z.int().check(z.minimum(1), z.maximum(MOST_TAIL_BYTES)), MOST_TAIL_BYTES).check(
        z.meta({
          description: "At most this much text, from the end. `truncated` says whether something was cut off.",
          "x-unit": "bytes",
        }),
      ),
      since: since("The `cursor` of an earlier answer: only what the transcript gained after it."),
      source: z
        .optional(sourceSchema)
        .check(z.describe("Read only this. By default the transcript is read, and the screen where there is none.")),
      style: z
        .optional(z.enum(["ansi"]))
        .check(
          z.describe(
            "Of a screen: only what is visible, with its colours as SGR sequences and no other escape sequence.",
          ),
        ),
    }),
  output: () =>
    z.object({
      session: sessionViewSchema.check(z.describe("The session as it is now.")),
      source: sourceSchema.check(
        z.describe("Where this comes from: `messages` of the transcript, or `text` of the screen."),
      ),
      messages: z
        .optional(z.array(messageSchema))
        .check(z.describe("Of the transcript, oldest first; missing where the source is the screen.")),
      text: z.optional(z.string()).check(z.describe("Of the screen; missing where the source is the transcript.")),
      truncated: yesOrNo("Whether there is more than was returned."),
      cursor: z
        .nullable(z.int().check(z.minimum(0)))
        .check(
          z.describe(
            "A place in the transcript, not in the event log. Pass it as `since` to this operation; null of a screen.",
          ),
        ),
      captured_at: instant("When this was read."),
      note: text("Why this source was used, and how current it is."),
    }),

  async run(input, context) {
    const session = resolveSession(context.store.registry, input.session);
    const agent = context.supervisor.agent(session.identity.agent);
    const head = {
      session: viewSession(session, context.supervisor.about(session)),
      captured_at: iso(context.clock.now()),
    };
    if (input.source !== "screen") {
      const transcript = await readWholeTurn(context, session, agent, input.tail, input.since ?? null);
      // A transcript that shows nothing (not a word yet, or only lines too long to read) leaves the screen to look at.
      const isAskedFor = input.source === "transcript" || input.since !== undefined;
      if (transcript !== null && (isAskedFor || transcript.messages.length > 0))
        return { ...head, source: "transcript" as const, ...transcript };
    }
    const screen = await readScreen(context, session, input.style);
    const text = keepTail(screen.text, input.tail);
    const isCut = text.length < screen.text.length || screen.truncated;
    const isBehind = input.source === undefined && takenMessage(context.store.mailbox, session) !== null;
    const behind =
      isBehind && agent.capabilities.transcript ? "It took a message that its transcript does not show yet." : "";
    return {
      ...head,
      source: "screen" as const,
      text,
      truncated: isCut,
      cursor: null,
      note: `${screen.note} ${behind || session.watch.observability.reason}`.trim(),
    };
  },
});

/**
 * An agent may tell of the end of a turn before it writes down what it said (claude 2.1.325: by about 100 ms; on a
 * machine that is too busy, by seconds), and that it took a message before its transcript is found. After a turn that
 * ended so recently, or a message that was taken, the answer waits for it, for so long.
 */
const RECENT_MS = 5_000;
const WRITTEN_WITHIN_MS = 2_000;
const LOOK_AGAIN_MS = 40;
const BEHIND = "From the agent's own transcript, which is behind: the session took a message that is not in it yet.";
const UNANSWERED =
  "From the agent's own transcript, which may be behind: the last turn has completed, and no reply of it is in it yet.";

export async function readWholeTurn(
  {
    clock,
    store,
    supervisor,
  }: Pick<OperationContext, "clock" | "store"> & {
    readonly supervisor: Pick<OperationContext["supervisor"], "runtime">;
  },
  { id }: Session,
  agent: Agent,
  tail: number,
  since: number | null,
) {
  const endsAt = clock.monotonic() + WRITTEN_WITHIN_MS;
  for (;;) {
    const session = store.registry.get(id);
    if (session === undefined) return null;
    const { files } = supervisor.runtime(session.identity.runtime);
    const readFrom = (from: number | null) => readTranscript(files, session, agent, tail, from);
    if (!agent.capabilities.transcript) return readFrom(since);
    const isRecent = (at: number | undefined): boolean => clock.now() - (at ?? 0) < RECENT_MS;
    const isOver = clock.monotonic() >= endsAt;
    const newestTaken = takenMessage(store.mailbox, session);
    // Whoever follows the transcript is told soon after; later this would be read for every answer.
    const isNewlyTaken = isJustSettled(newestTaken, clock.moment());
    const taken = since === null || isNewlyTaken ? newestTaken : null;
    const completed = await store.log.latest({ sessionId: id, types: ["turn-completed"] });
    const recent = isRecent(completed?.at) ? completed : undefined;
    if (taken === null && recent === undefined) return readFrom(since);
    // Of a short tail the message may be cut off. Read before: what is answered must have what is found here.
    const isShort = taken !== null && tail < MOST_TAIL_BYTES;
    const long = isShort ? await readTranscript(files, session, agent, MOST_TAIL_BYTES, null) : null;
    // What came since an earlier answer may be nothing because that answer had it.
    const newest = await readFrom(null);
    const whole = long ?? newest;
    const showsTaken = taken === null || (whole !== null && isShown(taken, whole.messages, whole.truncated));
    const showsReply =
      recent === undefined || holdsReply(newest?.messages ?? [], recent.at, await endBefore(store.log, id, recent));
    const isAwaited = (!showsTaken && isNewlyTaken) || !showsReply;
    if (!isAwaited || isOver || isWriterGone(session, recent?.at ?? 0)) {
      // Read after it was seen: what was read before may lack it.
      const read = since === null ? newest : await readFrom(since);
      const note = showsTaken ? (showsReply ? null : UNANSWERED) : BEHIND;
      return read === null || note === null ? read : { ...read, note };
    }
    await clock.sleep(LOOK_AGAIN_MS);
  }
}

/** What the process of then did not write down, nobody will: whoever waits for news need not wait for it. */
function isWriterGone({ process: { exit, place, startedAt } }: Session, then: number): boolean {
  return exit !== null || place === null || (then > 0 && (startedAt ?? 0) > then);
}

function isJustSettled(message: Message | null, now: Moment): boolean {
  const settled = message?.settled ?? null;
  return settled !== null && elapsedMs(settled, now) < RECENT_MS;
}

/** When the turn before that one was over. */
async function endBefore(log: EventLog, sessionId: string, { body }: LoggedEvent): Promise<number> {
  const isEarlier = (other: EventBody): boolean => isTurnEnd(other) && isTurnEnd(body) && other.turn < body.turn;
  const end = await log.latest({ sessionId, types: TURN_ENDS, fits: isEarlier });
  return end?.at ?? 0;
}

/**
 * A turn that completed ends in words, not in a prompt, a tool's call or its
 * result. They are newer than the end of the turn before; the next one may have
 * begun since.
 */
function holdsReply(messages: readonly z.infer<typeof messageSchema>[], over: number, before: number): boolean {
  const isAfter = (at: string | null, time: number): boolean => at === null || Date.parse(at) > time;
  const next = messages.findIndex(({ role, at }) => role === "user" && at !== null && isAfter(at, over));
  const last = messages.slice(0, next === -1 ? messages.length : next).findLast(({ role }) => role !== "system");
  return last?.role === "assistant" && last.tool === null && isAfter(last.at, before);
}

/** Agents write far more than messages (60 KB of attachments in one line, claude 2.1.325); past this it is the screen's turn. */
const FURTHEST_BACK = 4_194_304;
/** Short ones, too, tell what happened; looking further back would cost eight times as much. */
const ENOUGH_MESSAGES = 20;

async function readTranscript(files: SessionFiles, session: Session, agent: Agent, tail: number, since: number | null) {
  const { status, transcriptPath } = session.watch.observability;
  if (agent.impediment !== undefined) return null;
  if (status !== "observable" || transcriptPath === null) return null;
  for (let window = tail; ; window = Math.min(window * 8, FURTHEST_BACK)) {
    const read = await files.readTail(transcriptPath, { bytes: window, since }).catch(() => null);
    if (read === null) return null;
    const all = agent.readMessages(read.lines).map(viewMessage);
    const messages = keepNewest(all, tail);
    const isFull = messages.length < all.length;
    const isEnough = !read.truncated || isFull || messages.length >= ENOUGH_MESSAGES || bytesOf(messages) >= tail / 8;
    if (isEnough || window >= FURTHEST_BACK)
      return {
        messages,
        truncated: read.truncated || isFull,
        cursor: read.end,
        note: "From the agent's own transcript.",
      };
  }
}

function bytesOf(messages: readonly z.infer<typeof messageSchema>[]): number {
  return messages.reduce(
    (sum, { text, tool }) => sum + Buffer.byteLength(text) + Buffer.byteLength(tool?.input ?? ""),
    0,
  );
}

function viewMessage({ role, text, tool, usage, at, turn }: TranscriptMessage): z.infer<typeof messageSchema> {
  return {
    role,
    text: stripControls(text),
    tool:
      tool === null
        ? null
        : {
            id: tool.id,
            name: stripTerminal(tool.name),
            input: tool.input === null ? null : stripControls(tool.input),
            is_error: tool.isError,
          },
    usage:
      usage === null
        ? null
        : {
            input_tokens: usage.inputTokens,
            cached_input_tokens: usage.cachedInputTokens,
            output_tokens: usage.outputTokens,
            cost_usd: usage.costUsd,
          },
    at,
    turn,
  };
}

/** The newest messages whose texts fit; of the one that does not, its end. */
function keepNewest(messages: readonly z.infer<typeof messageSchema>[], bytes: number) {
  const kept: z.infer<typeof messageSchema>[] = [];
  let left = bytes;
  for (const message of messages.toReversed()) {
    const inputBytes = Buffer.byteLength(message.tool?.input ?? "");
    const textBytes = Buffer.byteLength(message.text);
    if (textBytes + inputBytes <= left) {
      kept.unshift(message);
      left -= textBytes + inputBytes;
      continue;
    }
    if (left > 0 && kept.length === 0) {
      const tool = message.tool === null ? null : { ...message.tool, input: keepTail(message.tool.input ?? "", left) };
      const text = keepTail(message.text, Math.max(0, left - Buffer.byteLength(tool?.input ?? "")));
      kept.unshift({ ...message, text, tool });
    }
    break;
  }
  return kept;
}

/** From the terminal while there is one, else what was kept when the session ended. */
export async function readScreen(
  context: Pick<OperationContext, "supervisor">,
  session: Session,
  style?: "ansi",
): Promise<{ readonly text: string; readonly truncated: boolean; readonly note: string }> {
  try {
    const options = style === undefined ? { lines: SCREEN_LINES } : { lines: 0, style };
    const { text, drawn, truncated } = await context.supervisor
      .runtime(session.identity.runtime)
      .capture(targetOf(session), options);
    return { text: drawn ?? text, truncated, note: "From its screen." };
  } catch (error) {
    const kept = readPlainFileIfFit(finalScreenPath(session), LARGEST_SCREEN_BYTES);
    if (kept !== null)
      return { text: stripTerminal(kept), truncated: false, note: "From the last screen before it ended." };
    const isStarting = session.state === "starting" && session.process.liveness.status === "absent";
    const why = isStarting ? "its process has not been started yet" : messageOf(error).replace(/\.$/, "");
    return { text: "", truncated: false, note: `There is no screen to show (${why}).` };
  }
}

const LARGEST_SCREEN_BYTES = 16 * 1024 * 1024;
