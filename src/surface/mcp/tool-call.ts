/**
 * Runs one tool: finds the operation, fills in what the caller's surroundings
 * tell, and turns the answer or the error into a result.
 */
import { ProtocolError, ProtocolErrorCode } from "@modelcontextprotocol/server";
import { ReeveError } from "../../platform/reeve-error.ts";
import { showName } from "../../platform/shown-value.ts";
import { requireTypes } from "./argument-types.ts";
import type { Answer, Backend, Fields } from "./backend.ts";
import type { CatalogueEntry } from "./catalogue.ts";
import { CATALOGUE } from "./catalogue.ts";
import { problemOf } from "./tool-error.ts";

export interface ToolResult {
  readonly content: { readonly type: "text"; readonly text: string }[];
  readonly structuredContent: Record<string, unknown>;
  readonly isError?: true;
  readonly [key: string]: unknown;
}

export function entryFor(name: string): CatalogueEntry {
  const entry = CATALOGUE.find(({ tool }) => tool.name === name);
  if (entry !== undefined) return entry;
  const names = CATALOGUE.map(({ tool }) => tool.name).join(", ");
  throw new ProtocolError(
    ProtocolErrorCode.InvalidParams,
    `There is no tool ${showName(name)}; the tools are ${names}.`,
  );
}

/** What an operation is called with. Some models write null for what they leave out. */
export async function inputOf(entry: CatalogueEntry, given: Fields, backend: Backend): Promise<Fields> {
  const surroundings = entry.filled.length === 0 ? {} : await backend.surroundings();
  const isSaidBy = (other: string | undefined): boolean => other !== undefined && typeof given[other] === "string";
  const filled = Object.fromEntries(
    entry.filled.flatMap((name) =>
      surroundings[name] === undefined || isSaidBy(entry.unfilledWith?.[name]) ? [] : [[name, surroundings[name]]],
    ),
  );
  const said = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== null));
  requireTypes(entry.tool, said);
  return { ...entry.defaults, ...filled, ...said };
}

/** What the model gets of an answer. */
export function shownOf({ items }: CatalogueEntry, answer: Answer): Answer {
  const all = items === undefined ? undefined : answer.value[items.list];
  if (items === undefined || !Array.isArray(all)) return answer;
  const pick = (item: Fields): Fields =>
    Object.fromEntries(items.fields.filter((name) => name in item).map((name) => [name, item[name]]));
  const value = { ...answer.value, [items.list]: all.map((item) => pick(item as Fields)) };
  return { value, text: JSON.stringify(value) };
}

/** A task is a result of its own kind; the SDK passes it on as it is. */
export async function resultOf(
  backend: Backend,
  run: () => Promise<Answer | { readonly taskId: string }>,
): Promise<ToolResult> {
  try {
    const outcome = await run();
    return "taskId" in outcome ? (outcome as unknown as ToolResult) : told(backend, outcome);
  } catch (error) {
    if (!(error instanceof ReeveError)) backend.note("a tool failed", error);
    const problem = { ...problemOf(error) };
    return { ...told(backend, { value: problem, text: JSON.stringify(problem) }), isError: true };
  }
}

/** With whatever a session is answered it learns how much mail it has not read. */
function told(backend: Backend, { value, text }: Answer): ToolResult {
  const count = backend.unreadMail();
  if (count === null) return { content: [{ type: "text", text }], structuredContent: { ...value } };
  const mail = { unread_mail: count.unread, ...(count.handOffs > 0 ? { unread_hand_offs: count.handOffs } : {}) };
  // What the client was sent is a JSON object; it is not made again for two fields.
  const whole = text === "{}" ? JSON.stringify(mail) : `${text.slice(0, -1)},${JSON.stringify(mail).slice(1)}`;
  return { content: [{ type: "text", text: whole }], structuredContent: { ...value, ...mail } };
}
