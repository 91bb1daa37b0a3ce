/**
 * Decides with which conversation a new incarnation begins: the one the session
 * had, if the agent's own file of it holds something to resume; otherwise a new
 * one. An agent that is told to resume an empty conversation does not start, so
 * the file is checked.
 */
import type { Agent, LaunchContext } from "../../agent/contract.ts";
import { nativeIdOf } from "../../agent/native-id.ts";
import type { LineCursor, NewLines } from "../../platform/line-cursor.ts";
import type { SessionFiles } from "../../runtime/session-files.ts";
import type { Session } from "../../session/session.ts";

export type Beginning = Pick<LaunchContext, "resume" | "prompt" | "newId">;

export async function beginningOf(
  session: Session,
  { holdsMessage }: Pick<Agent, "holdsMessage">,
  files: Pick<SessionFiles, "readNewLines">,
): Promise<Beginning> {
  const { id } = session;
  const { incarnation } = session.process;
  const { nativeId, turns } = session.conversation;
  const { launch } = session.identity;
  const { observability } = session.watch;
  const { transcriptPath } = observability;
  // The first prompt is brought along as long as nobody took it.
  const anew: Beginning = { resume: null, prompt: turns === 0 ? launch.prompt : null };
  if (nativeId === null) return anew;
  const resume = { nativeId, transcriptPath };
  // An id that Reeve did not choose, before anything could tell one: a conversation that it was started with.
  if (incarnation === 1) return nativeId === nativeIdOf(id) ? anew : { ...anew, resume };
  if (holdsMessage === undefined || transcriptPath === null)
    return turns > 0 || observability.status === "observable" ? { ...anew, resume } : anew;
  switch (await lookInto(files, transcriptPath, holdsMessage)) {
    case "begun":
      return { resume, prompt: null };
    case "empty":
      return { ...anew, newId: nativeIdOf(`${id}.${incarnation}`) };
    case "missing":
      // One that was there is not replaced without a word: the agent will say that it is gone.
      return observability.status === "pending" ? anew : { ...anew, resume };
  }
}

async function lookInto(
  files: Pick<SessionFiles, "readNewLines">,
  path: string,
  holdsMessage: (line: string) => boolean,
): Promise<"begun" | "empty" | "missing"> {
  let cursor: LineCursor | null = null;
  for (;;) {
    const read: NewLines = await files.readNewLines(path, cursor);
    if (read.cursor === null) return "missing";
    // A line too long to read is no mere setting.
    if (read.skippedLines > 0 || read.lines.some(({ text }) => holdsMessage(text))) return "begun";
    if (!read.hasMore) return "empty";
    cursor = read.cursor;
  }
}
