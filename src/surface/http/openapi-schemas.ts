/**
 * The schemas of the operations as those of OpenAPI 3.1. A schema that is
 * registered with an id, and the input and output of every operation, becomes a
 * component; everything else refers to it.
 */
import * as z from "zod/mini";

export type JsonSchema = Readonly<Record<string, unknown>>;

export interface SchemaBook {
  /** By name, as far as they were asked for. */
  readonly components: Readonly<Record<string, JsonSchema>>;
  /** The schema of what is given to Reeve: it takes these fields and no others. */
  input(schema: z.ZodMiniObject): ObjectSchema;
  /** A reference to the schema of what Reeve gives, as a component of its own id or of this name. */
  output(schema: z.core.$ZodType, name: string, description: string): JsonSchema;
  /** The same in its place, unless it has an id of its own: for what only one place has. */
  inPlace(schema: z.core.$ZodType, description: string): JsonSchema;
  add(name: string, schema: JsonSchema): JsonSchema;
}

export interface ObjectSchema extends JsonSchema {
  readonly properties: Readonly<Record<string, JsonSchema>>;
  readonly required: readonly string[];
}

export function createSchemaBook(): SchemaBook {
  const components: Record<string, JsonSchema> = {};

  /** Wrapped, so that what has an id is a reference, wherever it stands. */
  function describe(schema: z.core.$ZodType, io: "input" | "output"): JsonSchema {
    const wrapped = z.object({ it: schema as z.ZodMiniType });
    const whole = z.toJSONSchema(wrapped, { io, unrepresentable: "any", override: tidy(io) });
    const { $defs = {}, properties = {} } = relocate(whole) as {
      readonly $defs?: Record<string, JsonSchema>;
      readonly properties?: Record<string, JsonSchema>;
    };
    Object.assign(components, $defs);
    return properties["it"] ?? {};
  }

  const add = (name: string, schema: JsonSchema): JsonSchema => {
    components[name] = schema;
    return { $ref: `#/components/schemas/${name}` };
  };

  return {
    components,
    add,
    input(schema) {
      const { properties = {}, required = [] } = describe(schema, "input") as Partial<ObjectSchema>;
      return { type: "object", properties, required, additionalProperties: false };
    },
    output(schema, name, description) {
      const described = describe(schema, "output");
      return "$ref" in described ? { $ref: described["$ref"] } : add(name, { description, ...described });
    },
    inPlace(schema, description) {
      const described = describe(schema, "output");
      return "$ref" in described ? { $ref: described["$ref"] } : { description, ...described };
    },
  };
}

/** zod's own bounds of every whole number, and that names are text, tell nothing. Later versions may answer with more. */
function tidy(io: "input" | "output") {
  return ({ jsonSchema }: { readonly jsonSchema: z.core.JSONSchema.BaseSchema }): void => {
    if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
    if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
    if (jsonSchema.propertyNames !== undefined) delete jsonSchema.propertyNames;
    if (io === "output" && jsonSchema.additionalProperties === false) delete jsonSchema.additionalProperties;
  };
}

function relocate(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(relocate);
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).filter(([key]) => key !== "$schema");
  return Object.fromEntries(
    entries.map(([key, inner]: [string, unknown]) => [
      key,
      key === "$ref" && typeof inner === "string"
        ? inner.replace("#/$defs/", "#/components/schemas/")
        : relocate(inner),
    ]),
  );
}
