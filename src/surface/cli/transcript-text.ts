/** A transcript for people: what was said in full, what tools did in a line or a few. */
import type { OutputOf } from "../../client/operation-types.ts";
import { stripTerminal } from "../../platform/terminal-text.ts";
import type { Output } from "./output.ts";
import { paint } from "./paint.ts";
import { relativeTime } from "./relative-time.ts";
import { oneLine } from "./session-text.ts";
import { rulerFor } from "./text-ruler.ts";
import { toolGist } from "../../session/tool-gist.ts";

export type MessageView = NonNullable<OutputOf<"getSessionData">["messages"]>[number];
type Tool = NonNullable<MessageView["tool"]>;

/** A right and a left arrow; not written out, for the reason text-ruler.ts gives. */
const CALL = String.fromCodePoint(0x2192);
const RESULT = String.fromCodePoint(0x2190);
/** Where no terminal says how wide it is. */
const USUAL_WIDTH = 200;
/** Enough to see how it went; the whole is in --json. */
const RESULT_LINES = 3;

type Block =
  | { readonly type: "said"; readonly text: string }
  | { readonly type: "tools"; readonly lines: readonly ToolLine[] };

interface ToolLine {
  readonly mark: string;
  readonly text: string;
  readonly isBad?: boolean;
}

export async function transcriptText(
  messages: readonly MessageView[],
  output: Pick<Output, "width" | "hasColour">,
  now: number,
): Promise<string> {
  const blocks = messages.flatMap((message, index) => blocksOf(message, messages[index - 1], output.hasColour, now));
  const lines = blocks.flatMap((block) => (block.type === "tools" ? block.lines : []));
  const ruler = await rulerFor(lines.map(({ text }) => text));
  const width = output.width ?? USUAL_WIDTH;
  const draw = ({ mark, text, isBad }: ToolLine): string => {
    const cut = `${mark} ${ruler.cut(text, Math.max(1, width - 2))}`.trimEnd();
    return `${isBad === true && output.hasColour ? paint("bad", cut) : cut}\n`;
  };
  return blocks
    .map((block, index) => {
      // What tools did stands together, apart from what was said.
      const isApart = index > 0 && (block.type === "said" || blocks[index - 1]?.type === "said");
      return `${isApart ? "\n" : ""}${block.type === "said" ? block.text : block.lines.map(draw).join("")}`;
    })
    .join("");
}

function blocksOf(
  message: MessageView,
  before: MessageView | undefined,
  hasColour: boolean,
  now: number,
): readonly Block[] {
  const { role, at, text, tool } = message;
  if (tool !== null && role === "tool")
    return [{ type: "tools", lines: resultLines(text, tool, before?.tool ?? null) }];
  const head = `${role}${at === null ? "" : `, ${relativeTime(at, now)}`}`;
  const heading = hasColour ? paint("strong", head) : `[${head}]`;
  const said: Block = { type: "said", text: `${heading}\n${stripTerminal(text).trimEnd()}\n` };
  if (tool === null) return [said];
  const called: Block = { type: "tools", lines: [{ mark: CALL, text: callText(tool) }] };
  return text.trim() === "" ? [called] : [said, called];
}

function callText({ name, input }: Tool): string {
  const gist = input === null ? "" : oneLine(toolGist(input));
  return gist === "" ? oneLine(name) : `${oneLine(name)}: ${gist}`;
}

/** Its first lines; with the tool's name where the call does not stand right above. */
function resultLines(text: string, tool: Tool, before: Tool | null): readonly ToolLine[] {
  const isBelowCall = before !== null && before.input !== null && before.id === tool.id;
  const head = [...(isBelowCall ? [] : [oneLine(tool.name)]), ...(tool.is_error ? ["failed"] : [])].join(" ");
  const lines = stripTerminal(text)
    .split("\n")
    .map((line) => line.replaceAll("\t", "  ").trimEnd())
    .filter((line) => line !== "");
  const [first = "(nothing)", ...others] = lines.slice(0, RESULT_LINES);
  const left = lines.length - RESULT_LINES;
  const tone = tool.is_error ? { isBad: true } : {};
  return [
    { mark: RESULT, text: head === "" ? first : `${head}: ${first}`, ...tone },
    ...others.map((line) => ({ mark: " ", text: line, ...tone })),
    ...(left > 0 ? [{ mark: " ", text: `(${left} more ${left === 1 ? "line" : "lines"})` }] : []),
  ];
}
