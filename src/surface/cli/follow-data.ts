/**
 * `data --follow`: what a session says next, until its process ends. A
 * transcript is read on from a cursor; for a screen, new lines are found by
 * comparing it with the screen before.
 */
import type { Client } from "../../client/create-client.ts";
import type { InputOf } from "../../client/operation-types.ts";
import { systemClock } from "../../platform/clock.ts";
import { stripTerminal } from "../../platform/terminal-text.ts";
import { acknowledge } from "./acknowledge.ts";
import type { CliContext } from "./command.ts";
import type { Data } from "./command/data.ts";
import { UNREAD } from "./exit-codes.ts";
import { oneLine } from "./session-text.ts";

/** A person takes this for at once. */
const LOOK_MS = 300;

export async function followData(
  context: CliContext,
  client: Client,
  request: InputOf<"getSessionData">,
  textOf: (data: Data) => Promise<string>,
): Promise<number> {
  const { output } = context;
  let data = await client.getSessionData(request);
  if (context.isJson) output.printJson(data);
  else output.print(await textOf(data));
  for (;;) {
    await acknowledge(context, client, data.session);
    if (!output.hasReader()) return UNREAD;
    if (data.session.exit !== null) {
      output.note(`${oneLine(data.session.name)} has ended.`);
      return 0;
    }
    await systemClock.sleep(LOOK_MS);
    const next = await read(client, request, data);
    const gained = gain(data, next);
    if (gained !== null && context.isJson) output.printJson(gained);
    else if (gained !== null) output.print(gained.messages === undefined ? (gained.text ?? "") : await textOf(gained));
    data = next;
  }
}

/** From where the last look ended; a session that had no transcript at first may have one by now. */
function read(client: Client, request: InputOf<"getSessionData">, { cursor }: Data): Promise<Data> {
  const { since: _, ...rest } = request;
  return client.getSessionData(cursor === null ? rest : { ...rest, since: cursor });
}

/** What is new in this one; null: nothing. */
function gain(before: Data, now: Data): Data | null {
  if (now.messages !== undefined) return now.messages.length === 0 ? null : now;
  const text = gainedText(stripTerminal(before.text ?? ""), stripTerminal(now.text ?? ""));
  return text === "" ? null : { ...now, text };
}

/** Lines that are compared to find the place again once the beginning has been cut off. */
const MOST_COMPARED = 20;

/** The lines of a screen that were not on it before, if it only scrolled; all of it, if it was drawn anew. */
export function gainedText(before: string, now: string): string {
  const old = linesOf(before);
  const lines = linesOf(now);
  const tail = old.slice(-MOST_COMPARED);
  if (tail.length === 0) return joined(lines);
  for (let end = lines.length; end >= tail.length; end--)
    if (tail.every((line, index) => lines[end - tail.length + index] === line)) return joined(lines.slice(end));
  // Its last line has grown, as a prompt does that somebody types at.
  const whole = tail.slice(0, -1);
  for (let end = lines.length - 1; whole.length > 0 && end >= whole.length; end--)
    if (whole.every((line, index) => lines[end - whole.length + index] === line)) return joined(lines.slice(end));
  return joined(lines);
}

function linesOf(text: string): readonly string[] {
  const trimmed = text.trimEnd();
  return trimmed === "" ? [] : trimmed.split("\n");
}

function joined(lines: readonly string[]): string {
  return lines.map((line) => `${line}\n`).join("");
}
