/**
 * Refuses arguments of the wrong type or out of bounds, before they are sent. On the way to the
 * daemon some become text in a query, where a number and its digits look the
 * same; so both transports of MCP refuse the same things. The door checks all
 * the rest.
 */
import { ReeveError } from "../../platform/reeve-error.ts";
import type { Fields } from "./backend.ts";
import type { Tool } from "./catalogue.ts";

const KINDS = {
  string: ["text", (value: unknown) => typeof value === "string"],
  number: ["a number", (value: unknown) => typeof value === "number"],
  integer: ["a whole number", (value: unknown) => Number.isInteger(value)],
  boolean: ["true or false", (value: unknown) => typeof value === "boolean"],
  array: ["a list", Array.isArray],
  object: ["an object", (value: unknown) => typeof value === "object" && value !== null && !Array.isArray(value)],
} as const;

interface Schema {
  readonly type?: keyof typeof KINDS;
  readonly items?: Schema;
  readonly minimum?: number;
  readonly maximum?: number;
}

export function requireTypes({ inputSchema }: Tool, given: Fields): void {
  const properties = inputSchema["properties"] as Readonly<Record<string, Schema>>;
  const required = (inputSchema["required"] ?? []) as readonly string[];
  for (const name of required)
    if (given[name] === undefined) throw refused(`${name} is missing; it must be ${wordOf(properties[name])}.`, name);
  for (const [name, value] of Object.entries(given)) {
    const schema = Object.hasOwn(properties, name) ? properties[name] : undefined;
    if (isDeeperThan(value, MOST_LEVELS))
      throw refused(`${name} holds more than ${MOST_LEVELS} levels of lists and objects; nothing takes that.`, name);
    requireType(name, value, schema, name);
    if (Array.isArray(value))
      for (const [index, item] of value.entries()) requireType(`${name}[${index}]`, item, schema?.items, name);
  }
}

/** No argument has half as many; JSON of thousands of levels cannot be written again. */
const MOST_LEVELS = 20;

function isDeeperThan(value: unknown, levels: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  return levels === 0 || Object.values(value).some((inner) => isDeeperThan(inner, levels - 1));
}

/** What is not of the right type is not shown: it may be a secret. */
function requireType(name: string, value: unknown, schema: Schema | undefined, field: string): void {
  if (schema?.type === undefined) return;
  if (KINDS[schema.type][1](value)) return requireWithin(name, value, schema, field);
  const [kind] = Object.values(KINDS).find(([, fits]) => fits(value)) ?? ["nothing"];
  throw refused(`${name} must be ${wordOf(schema)}, not ${kind}.`, field);
}

function requireWithin(name: string, value: unknown, schema: Schema, field: string): void {
  const { minimum = Number.NEGATIVE_INFINITY, maximum = Number.POSITIVE_INFINITY } = schema;
  if (typeof value !== "number" || (value >= minimum && value <= maximum)) return;
  const bounds = Number.isFinite(maximum) ? `from ${minimum} to ${maximum}` : `, ${minimum} or more`;
  throw refused(`${name} must be ${wordOf(schema)} ${bounds}, not ${value}.`.replace(" ,", ","), field);
}

function wordOf(schema: Schema | undefined): string {
  return schema?.type === undefined ? "given" : KINDS[schema.type][0];
}

function refused(message: string, field: string): ReeveError {
  return new ReeveError({ code: "bad-request", kind: "usage", message, details: { field } });
}
