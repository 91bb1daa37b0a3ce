/** From a method and a path to an operation and the values in its path. Derived from the table of operations. */
import type { Operation } from "../../operation/contract.ts";
import { ReeveError } from "../../platform/reeve-error.ts";

export interface Route {
  readonly operation: Operation;
  readonly parameters: Readonly<Record<string, string>>;
}

export type Router = (method: string, pathname: string) => Route;

export function createRouter(operations: readonly Operation[]): Router {
  const patterns = operations.map((operation) => ({ operation, segments: operation.path.split("/") }));
  return (method, pathname) => {
    const given = pathname.split("/");
    const fitting = patterns.flatMap(({ operation, segments }) => {
      const parameters = match(segments, given);
      return parameters === null ? [] : [{ operation, parameters }];
    });
    const route = fitting.find((candidate) => candidate.operation.method === method);
    if (route !== undefined) return route;
    const allowed = fitting.map((candidate) => candidate.operation.method);
    throw new ReeveError({
      code: "unknown-path",
      kind: "usage",
      message:
        allowed.length > 0
          ? `Use ${allowed.join(" or ")} for ${pathname}.`
          : `There is nothing at ${pathname}; see /openapi.json.`,
    });
  };
}

function match(segments: readonly string[], given: readonly string[]): Record<string, string> | null {
  if (segments.length !== given.length) return null;
  const parameters: Record<string, string> = {};
  for (const [index, segment] of segments.entries()) {
    const value = given[index] ?? "";
    if (segment.startsWith("{")) parameters[segment.slice(1, -1)] = decode(value);
    else if (segment !== value) return null;
  }
  return parameters;
}

/** A malformed escape stays as it is: the operation's schema will refuse it. */
function decode(value: string): string {
  try {
    return decodeURIComponent(value);
  } catch {
    return value;
  }
}
