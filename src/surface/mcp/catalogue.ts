/** The tools as `npm run docs` writes them down: no schema library and no operation is loaded for them. */
import type { Verb } from "../../client/operation-types.ts";
import catalogue from "./catalogue.json" with { type: "json" };

export interface Tool {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly inputSchema: { readonly type: "object"; readonly [key: string]: unknown };
  readonly annotations: {
    /** Left out: it changes something. */
    readonly readOnlyHint?: true;
    readonly destructiveHint: boolean;
    /** Left out: it reads, or repeating it makes a difference. */
    readonly idempotentHint?: true;
    readonly openWorldHint: boolean;
  };
}

export interface CatalogueEntry {
  readonly verb: Verb;
  /** A session may call it. */
  readonly isForSessions: boolean;
  /** Fields that are filled from the caller's surroundings. */
  readonly filled: readonly ("cwd" | "environment")[];
  /** By such a field: the other one, with which it is not. */
  readonly unfilledWith?: Readonly<Record<string, string>>;
  readonly defaults?: Readonly<Record<string, string | number | boolean>>;
  readonly items?: { readonly list: string; readonly fields: readonly string[] };
  readonly tool: Tool;
}

export const CATALOGUE = catalogue as unknown as readonly CatalogueEntry[];
