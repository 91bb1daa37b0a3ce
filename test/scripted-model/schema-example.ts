// The smallest sensible value for a JSON schema, for hidden requests that ask for structured output.
// `user` wins in an enum, so that Gemini's next-speaker check never keeps the model talking; a number is 0,
// so that its loop detection is never confident; an integer is 1, because its complexity score starts there.

import { isObject, listAt, objectAt, textAt } from "./json.ts";

export function exampleOf(schema: unknown): unknown {
  const choices = listAt(schema, "enum");
  if (choices.length > 0) return choices.includes("user") ? "user" : choices[0];
  if (isObject(schema) && schema["const"] !== undefined) return schema["const"];
  const alternatives = [...listAt(schema, "anyOf"), ...listAt(schema, "oneOf")];
  if (alternatives.length > 0) return exampleOf(alternatives[0]);
  switch (typeOf(schema)) {
    case "object":
      return Object.fromEntries(
        Object.entries(objectAt(schema, "properties")).map(([name, property]) => [name, exampleOf(property)]),
      );
    case "array":
      return [];
    case "integer":
      return minimumOf(schema) ?? 1;
    case "number":
      return minimumOf(schema) ?? 0;
    case "boolean":
      return false;
    case "null":
      return null;
    default:
      return "Scripted session";
  }
}

function typeOf(schema: unknown): string {
  const [first] = listAt(schema, "type");
  return (typeof first === "string" ? first : textAt(schema, "type")).toLowerCase();
}

function minimumOf(schema: unknown): number | undefined {
  const minimum = isObject(schema) ? schema["minimum"] : undefined;
  return typeof minimum === "number" ? minimum : undefined;
}
