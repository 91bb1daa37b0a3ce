/** A transcript's lines as messages for people: what was said, which tools ran; without Claude Code's own bookkeeping. */
import { stripControls } from "../../platform/terminal-text.ts";
import type { TranscriptMessage } from "../contract.ts";
import { type Fields, fieldsOrNull, parseFields, textIn } from "../../platform/json-fields.ts";
import { blocksOf, textContentOf } from "./message-content.ts";
import { isInterruption, usageOf } from "./transcript-line.ts";

export function readMessages(lines: readonly string[]): readonly TranscriptMessage[] {
  const toolNames = new Map<string, string>();
  let turn: string | null = null;
  return lines.flatMap((text) => {
    const line = parseFields(text);
    if (line === null || line["isSidechain"] === true) return [];
    turn = textIn(line, "promptId") ?? turn;
    const said = messagesOf(line, toolNames);
    return said.map((message) => ({ ...EMPTY, at: textIn(line, "timestamp"), turn, ...message }));
  });
}

type Said = Partial<TranscriptMessage> & Pick<TranscriptMessage, "role" | "text">;

const EMPTY = { tool: null, usage: null } as const;

function messagesOf(line: Fields, toolNames: Map<string, string>): readonly Said[] {
  const message = fieldsOrNull(line["message"]);
  switch (line["type"]) {
    case "user":
      return line["isMeta"] === true ? [] : userMessages(line, message, toolNames);
    case "assistant":
      return assistantMessages(line, message, toolNames);
    case "attachment":
      return queuedMessages(fieldsOrNull(line["attachment"]));
    case "system":
      return line["subtype"] === "compact_boundary"
        ? [{ role: "system", text: "The conversation was compacted." }]
        : [];
    default:
      return [];
  }
}

function userMessages(line: Fields, message: Fields | null, toolNames: ReadonlyMap<string, string>): readonly Said[] {
  const results = blocksOf(message).filter((block) => block["type"] === "tool_result");
  if (results.length > 0) return results.map((block) => resultMessage(block, toolNames));
  const text = stripControls(textContentOf(message));
  if (text === "") return [];
  if (isInterruption(text)) return [{ role: "system", text: "The turn was interrupted." }];
  if (line["isCompactSummary"] === true || text.startsWith("<task-notification>")) return [{ role: "system", text }];
  return [localCommand(text) ?? { role: "user", text }];
}

/** Slash commands and `!` commands stand among the prompts, in tags. */
function localCommand(text: string): Said | null {
  const [, input] = /^<bash-input>([^]*)<\/bash-input>$/.exec(text) ?? [];
  if (input !== undefined) return { role: "user", text: `! ${input}` };
  const [, name] = /^<command-name>([^<]*)<\/command-name>/.exec(text) ?? [];
  const [, args = ""] = /<command-args>([^]*)<\/command-args>/.exec(text) ?? [];
  if (name !== undefined) return { role: "user", text: `${name} ${args}`.trim() };
  const [, output] = /^<(?:local-command|bash)-stdout>([^]*)$/.exec(text) ?? [];
  return output === undefined
    ? null
    : { role: "system", text: output.replaceAll(/<\/?(?:local-command|bash)-std\w+>/g, "") };
}

function resultMessage(block: Fields, toolNames: ReadonlyMap<string, string>): Said {
  const id = textIn(block, "tool_use_id");
  return {
    role: "tool",
    text: stripControls(textContentOf(block)),
    tool: { id, name: toolNames.get(id ?? "") ?? "unknown", input: null, isError: block["is_error"] === true },
  };
}

function assistantMessages(line: Fields, message: Fields | null, toolNames: Map<string, string>): readonly Said[] {
  const usage = fieldsOrNull(message?.["usage"]);
  const counted = line["apiBlockIndex"] === 0 && usage !== null ? { usage: usageOf(usage).usage } : {};
  if (line["isApiErrorMessage"] === true) return [{ role: "system", text: stripControls(textContentOf(message)) }];
  return blocksOf(message).flatMap((block): readonly Said[] => {
    if (block["type"] === "text")
      return [{ role: "assistant", text: stripControls(textIn(block, "text") ?? ""), ...counted }];
    if (block["type"] !== "tool_use") return [];
    const id = textIn(block, "id");
    const name = stripControls(textIn(block, "name") ?? "unknown");
    if (id !== null) toolNames.set(id, name);
    const input = stripControls(JSON.stringify(block["input"] ?? {}));
    return [{ role: "assistant", text: "", tool: { id, name, input, isError: false }, ...counted }];
  });
}

/** A text that was submitted during a turn and taken into it. */
function queuedMessages(attachment: Fields | null): readonly Said[] {
  const prompt = attachment?.["type"] === "queued_command" ? textIn(attachment, "prompt") : null;
  return prompt === null || attachment?.["humanTurn"] !== true ? [] : [{ role: "user", text: stripControls(prompt) }];
}
