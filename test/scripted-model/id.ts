// Ids that never repeat, also between two models that run at once: agents key their tool calls by them.

import { randomUUID } from "node:crypto";

export function newId(kind: string): string {
  return `${kind}_${randomUUID().replaceAll("-", "")}`;
}
