/**
 * What `reeve init` has to know of an agent: its own command that adds and
 * removes an MCP server, the file in which that command keeps it, and where the
 * agent looks for skills. Data only; init.ts runs it.
 */
import type { Fields } from "../../../platform/json-fields.ts";

export type Scope = "user" | "project";

export interface Places {
  readonly home: string;
  readonly cwd: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
}

export interface ServerCommand {
  readonly words: readonly [program: string, ...words: string[]];
  /** Values that the server needs and this agent may not pass on; paths only. */
  readonly variables: Readonly<Record<string, string>>;
}

export interface Registrar {
  readonly name: string;
  readonly title: string;
  /** What a person types to get it. */
  readonly install: string;
  /** It gives its MCP servers hardly anything of its environment. */
  readonly hidesEnvironment: boolean;
  /** Null where it has no such scope. */
  file(scope: Scope, places: Places): string | null;
  /** What that file says; throws where it makes no sense. */
  parse(text: string): Fields;
  /** The table of MCP servers in it. */
  readonly table: string;
  /** That text without what stands at this path, and every other byte as it is; null where that cannot be done. */
  without(text: string, path: readonly string[]): string | null;
  /** The words after the program's name. */
  add(scope: Scope, name: string, server: ServerCommand): readonly string[];
  remove(scope: Scope, name: string): readonly string[];
  /** The directory of its skills; each has a directory of its own there. */
  skills(scope: Scope, places: Places): string;
}
