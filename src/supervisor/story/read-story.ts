/**
 * Reads all that there is about a session and makes its story of it. Whatever
 * is missing, torn or too long is left out, and counted: a story is read when
 * something went wrong.
 */
import { join } from "node:path";
import type { Agent, TranscriptMessage } from "../../agent/contract.ts";
import { type LineCursor, type NewLines, readNewLines, type ReadLimits } from "../../platform/line-cursor.ts";
import type { Fields } from "../../platform/json-fields.ts";
import { stripTerminal } from "../../platform/terminal-text.ts";
import type { SessionFiles } from "../../runtime/session-files.ts";
import type { Session } from "../../session/session.ts";
import { createApiReader } from "../../session/story/api-part.ts";
import { beginning, MOST_TEXT, type StoryEntry } from "../../session/story/entry.ts";
import { logLine, logParts, type StoryEvent, type StoryMail } from "../../session/story/log-part.ts";
import { tellStory } from "../../session/story/tell-story.ts";
import { type SaidMessage, transcriptParts } from "../../session/story/transcript-part.ts";
import { allLines } from "./all-lines.ts";
import { findFiles, inodeOf } from "./archive-content.ts";

export interface StorySources {
  readonly session: Session;
  readonly agent: Pick<Agent, "readMessages" | "impediment">;
  readonly files: Pick<SessionFiles, "readNewLines">;
  readonly events: readonly StoryEvent[];
  readonly mails: readonly StoryMail[];
  /** Takes out the session's secrets: the transcript is the agent's own file. */
  readonly redact: (text: string) => string;
}

export interface Story {
  readonly entries: readonly StoryEntry[];
  /** What could not be read, one sentence each. */
  readonly gaps: readonly string[];
}

export async function readStory({ session, agent, files, events, mails, redact }: StorySources): Promise<Story> {
  const gaps: string[] = [];
  const directory = session.identity.outputsDir;
  const logged = await readLog(directory, "session.log", listOfLines, gaps);
  const meta = await readLog(directory, "session_meta.log", listOfLines, gaps);
  const api = await readLog(directory, "session_oai_raw.log", createApiReader, gaps);
  const messages = await readMessages({ session, agent, files, redact }, gaps);
  const since = events[0]?.at ?? new Date(session.identity.createdAt).toISOString();
  const entries = tellStory({
    log: logParts({ events, logged: logged.lines, meta: meta.lines, mails }),
    transcript: transcriptParts(messages, since),
    api: api.parts(),
  });
  return { entries, gaps };
}

const MIB = 1_048_576;
/** A request may hold a whole conversation with its pictures; what is longer is only in the file. */
const LOG_LIMITS: ReadLimits = { mostBytes: MIB, longestLine: 16 * MIB };

interface LineReader {
  take(line: Fields): void;
}

function listOfLines(): LineReader & { readonly lines: readonly Fields[] } {
  const lines: Fields[] = [];
  return { lines, take: (line) => void lines.push(line) };
}

/** A file is renamed every few megabytes or more; one that is so each time it is read is read as far as that goes. */
const MOST_TRIES = 5;

/**
 * With the older file that rotation left. If it is another one in the end, the file became it meanwhile, and may have
 * been read twice or not at all: all is read again.
 */
async function readLog<T extends LineReader>(
  directory: string,
  name: string,
  makeReader: () => T,
  gaps: string[],
): Promise<T> {
  const older = join(directory, `${name}.1`);
  for (let tries = 1; ; tries += 1) {
    const inode = inodeOf(older);
    const reader = makeReader();
    const missing = await readBoth(directory, name, reader);
    if (inodeOf(older) !== inode && tries < MOST_TRIES) continue;
    gaps.push(...missing);
    return reader;
  }
}

async function readBoth(directory: string, name: string, { take }: LineReader): Promise<readonly string[]> {
  const gaps: string[] = [];
  let torn = 0;
  let long = 0;
  for (const file of [`${name}.1`, name]) {
    try {
      for await (const { lines, skippedLines } of allLines((cursor) =>
        readNewLines(join(directory, file), cursor, LOG_LIMITS),
      )) {
        long += skippedLines;
        for (const { text } of lines) {
          const line = logLine(text);
          if (line === null) torn += 1;
          else take(line);
        }
      }
    } catch {
      gaps.push(`${file} cannot be read.`);
    }
  }
  const counted = (lines: number): string => `${lines} ${lines === 1 ? "line" : "lines"} of ${name}`;
  if (torn > 0) gaps.push(`Left out because Reeve cannot understand them: ${counted(torn)}.`);
  if (long > 0) gaps.push(`Left out because they are too long to be shown: ${counted(long)}.`);
  return gaps;
}

/** Of one call to the agent, which may look back in what it is given. */
const AT_ONCE_BYTES = 8 * MIB;
/** Of all texts together; of those after it only the beginning is kept. */
const MOST_KEPT = 64 * MIB;
/** Before secrets are looked for: a tool may have printed gigabytes. */
const MOST_LOOKED_AT = 4 * MOST_TEXT;

async function readMessages(
  { session, agent, files, redact }: Pick<StorySources, "session" | "agent" | "files" | "redact">,
  gaps: string[],
): Promise<readonly SaidMessage[]> {
  const transcriptPath = await transcriptOf(session);
  if (transcriptPath === null) return [];
  if (agent.impediment !== undefined) {
    gaps.push(`Its transcript ${transcriptPath} cannot be understood: ${agent.impediment}`);
    return [];
  }
  let kept = 0;
  const clean = (text: string): string => {
    const most = kept < MOST_KEPT ? MOST_LOOKED_AT : MOST_TEXT / 16;
    const cleaned = redact(stripTerminal(beginning(text, most)));
    kept += Math.min(cleaned.length, MOST_TEXT);
    return text.length > most ? `${cleaned}\n(${text.length - most} more characters)` : cleaned;
  };
  const messages: SaidMessage[] = [];
  let skipped = 0;
  try {
    const read = (cursor: LineCursor | null): Promise<NewLines> =>
      files.readNewLines(transcriptPath, cursor, { mostBytes: AT_ONCE_BYTES });
    for await (const { lines, skippedLines } of allLines(read)) {
      skipped += skippedLines;
      const found = agent.readMessages(lines.map(({ text }) => text));
      messages.push(...found.map((message) => said(message, clean)));
    }
  } catch {
    gaps.push(`Its transcript ${transcriptPath} cannot be read.`);
  }
  if (skipped > 0) gaps.push(`${skipped} lines of its transcript are too long to be shown.`);
  return messages;
}

/** The agent's own; where that is gone, what is kept of it in the session's directory. */
async function transcriptOf(session: Session): Promise<string | null> {
  const { status, transcriptPath } = session.watch.observability;
  if (transcriptPath !== null && status !== "lost") return transcriptPath;
  const kept = await findFiles(session.identity.outputsDir, []);
  const copy = kept.findLast(({ kind }) => kind === "transcript");
  return copy === undefined ? transcriptPath : join(session.identity.outputsDir, copy.path);
}

function said({ role, text, tool, usage, at }: TranscriptMessage, clean: (text: string) => string): SaidMessage {
  return {
    role,
    text: clean(text),
    tool:
      tool === null
        ? null
        : {
            id: tool.id,
            name: clean(tool.name),
            input: tool.input === null ? null : clean(tool.input),
            isError: tool.isError,
          },
    usage: usage === null ? null : { ...usage },
    at,
  };
}
