/** The reference of manifests and their JSON Schema, from the one definition of the keys. */
import { manifestJsonSchema } from "../src/fleet/manifest-schema.ts";

interface Schema {
  readonly type?: string;
  readonly enum?: readonly string[];
  readonly description?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
}

export function renderManifestSchema(): string {
  return `${JSON.stringify(manifestJsonSchema(), null, 2)}\n`;
}

export function renderManifestKeys(): string {
  const { properties = {} } = manifestJsonSchema() as Schema;
  const { defaults, sessions, services, work } = properties;
  const inDefaults = new Set(Object.keys(defaults?.properties ?? {}));
  const only = Object.keys(sessions?.items?.properties ?? {}).filter((key) => !inDefaults.has(key));
  return [
    "## `[[sessions]]` and `[defaults]`",
    `${sessions?.description} All keys but ${only.map((key) => `\`${key}\``).join(", ")} may also stand in \`[defaults]\`: ${lower(defaults?.description)}`,
    table(sessions?.items),
    "### `timeouts`",
    'Each is a number of seconds, or a table such as `{ after = 600, then = "interrupt" }`, where `then` is `report`, `interrupt` or `end`.',
    table(sessions?.items?.properties?.["timeouts"]),
    "### `resources`",
    table(sessions?.items?.properties?.["resources"]),
    "## `[[services]]`",
    services?.description ?? "",
    table(services?.items),
    "## `[work]`",
    work?.description ?? "",
    table(work),
    "",
  ].join("\n\n");
}

function table(schema: Schema | undefined): string {
  const rows = Object.entries(schema?.properties ?? {}).map(
    ([key, value]) => `| \`${key}\` | ${formOf(value)} | ${value.description ?? ""} |`,
  );
  return ["| key | value | meaning |", "| --- | --- | --- |", ...rows].join("\n");
}

function formOf({ type, enum: words, items, anyOf }: Schema): string {
  if (words !== undefined) return words.map((word) => `\`${word}\``).join(", ");
  if (anyOf !== undefined) return "seconds, or a table";
  if (type === "array") return items?.type === "string" ? "list of texts" : "list";
  return { string: "text", boolean: "true or false", number: "number", object: "table" }[type ?? ""] ?? "";
}

function lower(text = ""): string {
  return `${text.slice(0, 1).toLowerCase()}${text.slice(1)}`;
}
