/** Which version of Reeve is installed. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fieldsOf, parseFields } from "../../platform/json-fields.ts";

export function versionOf(root: string): string {
  const { version } = fieldsOf(parseFields(readFileSync(join(root, "package.json"), "utf8")));
  return typeof version === "string" ? version : "unknown";
}
