import type { EventView } from "../../../client/operation-types.ts";
import { answer } from "../answer.ts";
import { callerText } from "../caller-text.ts";
import type { CliContext, Command } from "../command.ts";
import { UNREAD } from "../exit-codes.ts";
import { oneLine } from "../session-text.ts";
import { textIn } from "../text-in.ts";

export const eventsCommand: Command = {
  name: "events",
  summary: "show what happened, oldest first",
  arguments: [{ name: "session", isOptional: true, completion: "session" }],
  options: [
    { name: "follow", summary: "go on with what happens; from now on, unless --since says otherwise" },
    { name: "since", value: "CURSOR", type: "number", summary: "only what came after this cursor" },
  ],
  notes: ["Without --follow it shows all there is and ends. With --follow --json it prints one object per line."],
  examples: [
    { line: "reeve events builder", does: "the story of one session" },
    { line: "reeve events --follow --json", does: "everything as it happens, for a program" },
  ],

  async run(input, context) {
    const [session] = input.arguments;
    const client = context.client();
    const scope = session === undefined ? {} : { session };
    if (!input.flag("follow")) return await showAll(context, scope, input.number("since") ?? 0);
    const since = input.number("since") ?? (await client.daemonStatus()).cursor;
    for await (const event of client.followEvents({ ...scope, since })) {
      if (context.isJson) context.output.printJson(event);
      else context.output.print(lineOf(event));
      if (!context.output.hasReader()) return UNREAD;
    }
    return 0;
  },
};

/** Page by page; only --json needs them all at once. */
async function showAll(context: CliContext, scope: { readonly session?: string }, since: number): Promise<number> {
  const client = context.client();
  const all: EventView[] = [];
  for (let cursor = since; ;) {
    const page = await client.readEvents({ ...scope, since: cursor });
    cursor = page.cursor;
    if (context.isJson) all.push(...page.events);
    else context.output.print(page.events.map(lineOf).join(""));
    if (page.events.length === 0 || !context.output.hasReader()) {
      if (context.isJson) answer(context, { events: all, cursor }, () => "");
      return 0;
    }
  }
}

export function lineOf({ seq, at, session_id: session, type, caller, data }: EventView): string {
  const asker = caller === null ? "" : ` (by ${callerText(caller)})`;
  return `${`${seq}  ${at}  ${session ?? "-"}  ${type}  ${oneLine(`${sentenceOf(data)}${asker}`)}`.trimEnd()}\n`;
}

/** The most telling text an event carries. */
function sentenceOf(data: EventView["data"]): string {
  const reason = textIn(data["reason"], "text");
  if (reason !== null) return reason;
  const activity = textIn(data["activity"], "status");
  if (activity !== null) return [activity, textIn(data["activity"], "asks")].filter((part) => part !== null).join(": ");
  const status = textIn(data["liveness"], "status") ?? textIn(data["observability"], "status");
  if (status !== null) return status;
  const told = approvalSentence(data) ?? disputeSentence(data) ?? correctionSentence(data);
  if (told !== null) return told;
  for (const name of ["error", "name", "what", "message_id", "native_id", "turn", "pid"]) {
    const value = data[name];
    if (typeof value === "string" || typeof value === "number") return `${name} ${value}`;
  }
  return "";
}

function approvalSentence(data: EventView["data"]): string | null {
  const asked = textIn(data["approval"], "title");
  if (asked !== null) return asked;
  if (!("decision" in data)) return null;
  const what = textIn(data, "title") ?? textIn(data, "approval_id") ?? "";
  const by = textIn(data, "by");
  return `${textIn(data, "decision") ?? "answered unseen"}${by === null ? "" : ` by ${by}`}: ${what}`;
}

function disputeSentence(data: EventView["data"]): string | null {
  const [counted, other] = [textIn(data, "counted"), textIn(data, "other")];
  if (counted === null || other === null) return null;
  return `${counted} by ${textIn(data, "counted_source") ?? "?"}, but ${other} by ${textIn(data["evidence"], "source") ?? "?"}`;
}

function correctionSentence(data: EventView["data"]): string | null {
  const [verdict, was] = [textIn(data, "verdict"), textIn(data, "was")];
  if (verdict === null || was === null) return null;
  return `${verdict} by ${textIn(data["evidence"], "source") ?? "?"}, not ${was} as inferred from ${textIn(data, "was_source") ?? "?"}`;
}
