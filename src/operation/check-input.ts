/**
 * The input of an operation, checked against its schema. Nothing is ignored: a
 * field that the operation does not know is refused with the name that was
 * probably meant. A refusal names the field, what it must be and what was
 * given. The value of a field that is marked `writeOnly` may be a secret and is
 * never quoted.
 *
 * A message that a schema gives to one of its checks completes "it must be …".
 */
import * as z from "zod/mini";
import { nearestWord } from "../platform/nearest-word.ts";
import { ReeveError } from "../platform/reeve-error.ts";
import { showName, showValue } from "../platform/shown-value.ts";
import type { Operation } from "./contract.ts";

/** Where a schema has no words of its own. The SDK of MCP brings zod's own for everybody in this process; not for us. */
const WORDLESS = "Invalid input";

export function checkInput(operation: Operation, given: unknown): Readonly<Record<string, unknown>> {
  const { shape } = operation.input;
  if (!isObject(given))
    throw badRequest(`The input of ${operation.name} must be an object, not ${showValue(given)}.`, null);
  requireKnown(given, operation.input, [], operation.name);
  const result = z.safeParse(operation.input, given, { error: () => WORDLESS });
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  if (issue === undefined) throw badRequest(`The input of ${operation.name} is not valid.`, null);
  throw badRequest(sentenceOf(issue, shape, given), nameOf(issue.path));
}

/** Refuses the first name that is not known, also inside of a field. */
function requireKnown(given: object, { shape }: ObjectSchema, path: readonly string[], operation: string): void {
  const known = Object.keys(shape);
  const unknown = Object.keys(given).find((name) => !known.includes(name));
  if (unknown !== undefined) throw unknownField(unknown, known, path, operation);
  for (const [name, value] of Object.entries(given)) {
    const inner = shape[name] === undefined || !isObject(value) ? null : objectSchemaIn(shape[name]);
    if (inner !== null) requireKnown(value, inner, [...path, name], operation);
  }
}

function unknownField(
  unknown: string,
  known: readonly string[],
  path: readonly string[],
  operation: string,
): ReeveError {
  const where = path.length === 0 ? operation : `${path.join(".")} of ${operation}`;
  const nearest = nearestWord(unknown, known);
  const others = known.length === 0 ? "it takes no fields" : `its fields are ${known.join(", ")}`;
  return new ReeveError({
    code: "unknown-field",
    kind: "usage",
    message: `${where} has no field ${showName(unknown)}; ${nearest === null ? `${others}.` : `did you mean ${nearest}?`}`,
    details: { field: [...path, unknown.slice(0, LONGEST_DETAIL)].join("."), nearest, known },
  });
}

type ObjectSchema = Pick<Operation["input"], "shape">;

/** What an object must be there, as far as its fields have names. */
function objectSchemaIn(schema: z.core.$ZodType): ObjectSchema | null {
  if (schema instanceof z.ZodMiniLazy) return objectSchemaIn(schema._zod.innerType);
  const def = schema._zod.def as z.core.$ZodTypeDef & {
    readonly shape?: ObjectSchema["shape"];
    readonly innerType?: z.core.$ZodType;
    readonly options?: readonly z.core.$ZodType[];
  };
  if (def.type === "object" && def.shape !== undefined) return { shape: def.shape };
  const inner = def.options ?? (def.innerType === undefined ? [] : [def.innerType]);
  return inner.map(objectSchemaIn).find((found) => found !== null) ?? null;
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

const LONGEST_DETAIL = 200;

function badRequest(message: string, field: string | null): ReeveError {
  return new ReeveError({ code: "bad-request", kind: "usage", message, details: { field } });
}

type Issue = z.core.$ZodIssue;
type Shape = Operation["input"]["shape"];

function sentenceOf(issue: Issue, shape: Shape, given: object): string {
  const [field = "", ...inner] = issue.path;
  const schema = z.toJSONSchema(shape[String(field)] ?? z.unknown(), { io: "input", unrepresentable: "any" });
  const name = nameOf(issue.path);
  if (issue.code === "invalid_key")
    return `${showName(String(inner[0]))} in ${String(field)} must be ${issue.issues[0]?.message ?? "another name"}.`;
  const value = issue.path.reduce(valueIn, given as unknown);
  const wanted = wantedOf(issue, inner.reduce(schemaIn, schema));
  if (value === undefined) return `${name} is missing; it must be ${wanted}.`;
  if (schema.writeOnly === true) return `${name} must be ${wanted}; what was given is not shown.`;
  return `${name} must be ${wanted}, not ${showValue(value)}.`;
}

/** `args[3]`, `env.TOKEN`. */
function nameOf(path: readonly PropertyKey[]): string {
  return path.reduce<string>((name, part) => {
    if (typeof part === "number") return `${name}[${part}]`;
    const word = String(part);
    const plain = /^[\w-]{1,64}$/.test(word) ? word : showName(word);
    return name === "" ? plain : `${name}.${plain}`;
  }, "");
}

function valueIn(value: unknown, part: PropertyKey): unknown {
  return typeof value === "object" && value !== null ? (value as Readonly<Record<PropertyKey, unknown>>)[part] : value;
}

type JsonSchema = z.core.JSONSchema.BaseSchema;

function schemaIn(schema: JsonSchema, part: PropertyKey): JsonSchema {
  const inner = typeof part === "number" ? schema.items : schema.additionalProperties;
  return typeof inner === "object" && !Array.isArray(inner) ? inner : {};
}

function wantedOf(issue: Issue, schema: JsonSchema): string {
  if (issue.message !== WORDLESS) return issue.message;
  const isOutside = issue.code === "too_small" || issue.code === "too_big";
  if (schema.enum !== undefined) return alternatives(schema.enum.map(String));
  const unit = typeof schema["x-unit"] === "string" ? ` of ${schema["x-unit"]}` : "";
  switch (schema.type) {
    case "integer":
      return `a whole number${unit}${isOutside ? bounds(schema.minimum, schema.maximum) : ""}`;
    case "number":
      return `a number${unit}${isOutside ? bounds(schema.minimum, schema.maximum) : ""}`;
    case "boolean":
      return "true or false";
    case "array":
      return isOutside ? `a list of at most ${schema.maxItems}` : "a list";
    case "object":
      return "an object";
    default:
      return isOutside
        ? `text of ${schema.minLength ?? 0} to ${schema.maxLength ?? "any number of"} characters`
        : "text";
  }
}

function bounds(least = Number.NEGATIVE_INFINITY, most = Number.POSITIVE_INFINITY): string {
  // A whole number without a bound of its own has that of Number.
  return most >= Number.MAX_SAFE_INTEGER ? `, ${least} or more` : ` from ${least} to ${most}`;
}

function alternatives(words: readonly string[]): string {
  const [last = "", ...others] = words.toReversed();
  return others.length === 0 ? last : `${others.toReversed().join(", ")} or ${last}`;
}
