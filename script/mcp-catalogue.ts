/** Makes the catalogue of MCP tools (src/surface/mcp/catalogue.json) from the operations and the texts for models. */
import * as z from "zod/mini";
import type { Verb } from "../src/client/operation-types.ts";
import { ROUTES } from "../src/client/routes.ts";
import type { EffectClass, Operation } from "../src/operation/contract.ts";
import { operations } from "../src/operation/operations.ts";
import type { CatalogueEntry, Tool } from "../src/surface/mcp/catalogue.ts";
import type { NotATool, ToolText } from "../src/surface/mcp/tools.ts";
import { TOOLS } from "../src/surface/mcp/tools.ts";

export function makeCatalogue(): readonly CatalogueEntry[] {
  return verbs().flatMap(([verb, operation]) => {
    const text = TOOLS[verb];
    return "notATool" in text ? [] : [entryOf(verb, operation, text)];
  });
}

export function renderCatalogue(): string {
  return `[\n${makeCatalogue()
    .map((entry) => JSON.stringify(entry))
    .join(",\n")}\n]\n`;
}

/** For the guide: what each operation is to a model. */
export function renderTools(): string {
  const rows = makeCatalogue().map(({ tool, isForSessions }) => {
    const { readOnlyHint, destructiveHint, idempotentHint } = tool.annotations;
    const isRepeatable = readOnlyHint === true || idempotentHint === true;
    const hints = [readOnlyHint === true && "reads", destructiveHint && "takes away", isRepeatable && "repeatable"];
    return `| \`${tool.name}\` | ${tool.title} | ${hints.filter((hint) => hint !== false).join(", ")} | ${isForSessions ? "yes" : ""} |`;
  });
  const others = verbs().flatMap(([verb, { name }]) => {
    const text = TOOLS[verb];
    return "notATool" in text ? [`- \`${name}\`: ${text.notATool}`] : [];
  });
  return `| tool | what for | hints | for sessions |\n| --- | --- | --- | --- |\n${rows.join("\n")}\n\nNot tools:\n\n${others.join("\n")}\n`;
}

function verbs(): readonly (readonly [Verb, Operation])[] {
  const all = operations as readonly Operation[];
  return (Object.keys(ROUTES) as Verb[]).flatMap((verb) => {
    const name = verb.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
    const operation = all.find((one) => one.name === name);
    return operation === undefined ? [] : [[verb, operation] as const];
  });
}

function entryOf(verb: Verb, operation: Operation, text: Exclude<ToolText, NotATool>): CatalogueEntry {
  const given = Object.keys(operation.input.shape);
  const filled = (["cwd", "environment"] as const).filter((name) => given.includes(name));
  return {
    verb,
    isForSessions: operation.callers.session !== "none",
    filled,
    ...(text.unfilledWith === undefined ? {} : { unfilledWith: text.unfilledWith }),
    ...(text.defaults === undefined ? {} : { defaults: text.defaults }),
    ...(text.items === undefined ? {} : { items: text.items }),
    tool: {
      name: operation.name,
      title: text.title,
      description: text.description,
      inputSchema: inputOf(operation, text),
      annotations: annotationsOf(operation.effect, text.isRepeatable === true),
    },
  };
}

/**
 * No tool reaches beyond this machine by itself; clients that are not told so ask the user before each call. What a
 * client takes for granted where it is not said (a tool that changes something, and is not the same if repeated) is
 * left out, because it is paid for in every tool.
 */
function annotationsOf(effect: EffectClass, isRepeatable: boolean): Tool["annotations"] {
  return {
    ...(effect === "read" ? { readOnlyHint: true } : {}),
    destructiveHint: effect === "end",
    ...(effect !== "read" && isRepeatable ? { idempotentHint: true } : {}),
    openWorldHint: false,
  };
}

/** In almost every tool: each word of it is paid for many times. */
const COMMON: Readonly<Record<string, string>> = { session: "Its id or name.", work: "Its id." };

function inputOf(
  { input }: Operation,
  { hidden = [], filled = [], fields = {}, defaults = {} }: ToolText,
): Tool["inputSchema"] {
  const { properties = {}, required = [] } = z.toJSONSchema(input, { io: "input", unrepresentable: "any" });
  const shown = Object.entries(properties).filter(([name]) => !hidden.includes(name));
  const needed = required.filter((name) => !hidden.includes(name) && !filled.includes(name));
  return {
    type: "object",
    properties: Object.fromEntries(
      shown.map(([name, schema]) => [
        name,
        { ...tidy(schema, fields[name] ?? COMMON[name]), ...defaultOf(defaults[name]) },
      ]),
    ),
    ...(needed.length === 0 ? {} : { required: needed }),
    additionalProperties: false,
  };
}

/** What a model can do without: bounds that it hardly meets, empty defaults, marks for other readers. */
function tidy(schema: object | boolean, description?: string): object {
  if (typeof schema === "boolean") return {};
  const isNoise = (key: string, value: unknown): boolean =>
    [
      "$schema",
      "writeOnly",
      "x-unit",
      "propertyNames",
      "pattern",
      "minLength",
      "maxLength",
      "minItems",
      "maxItems",
    ].includes(key) ||
    value === Number.MAX_SAFE_INTEGER ||
    value === Number.MIN_SAFE_INTEGER ||
    (key === "default" && typeof value === "object");
  const kept = Object.entries(schema)
    .filter(([key, value]) => !isNoise(key, value))
    .map(([key, value]: [string, unknown]) => [key, isSchema(value) ? plain(tidy(value)) : value]);
  return { ...(Object.fromEntries(kept) as object), ...(description === undefined ? {} : { description }) };
}

/** What an item of a list is, the list itself says. */
function plain({ description: _said, ...schema }: { readonly description?: string }): object {
  return schema;
}

function isSchema(value: unknown): value is object {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function defaultOf(value: unknown): object {
  return value === undefined ? {} : { default: value };
}
