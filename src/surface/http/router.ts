/**
 * From a method and a path to an operation and the values in its path. Derived
 * from the table of operations. A path that is not known is 404 with the nearest
 * one; a known path with another method is 405.
 */
import type { Operation } from "../../operation/contract.ts";
import { nearestWord } from "../../platform/nearest-word.ts";
import { ReeveError } from "../../platform/reeve-error.ts";
import { showName } from "../../platform/shown-value.ts";

export interface Route {
  /** Null: the description of the API. */
  readonly operation: Operation | null;
  readonly parameters: Readonly<Record<string, string>>;
}

export type Router = (method: string, pathname: string) => Route;

const DESCRIPTION = { method: "GET", segments: ["", "openapi.json"], operation: null };

export function createRouter(operations: readonly Operation[]): Router {
  const patterns = [
    ...operations.flatMap((operation) =>
      pathsOf(operation).map((path) => ({ method: operation.method, segments: path.split("/"), operation })),
    ),
    DESCRIPTION,
  ];
  return (method, pathname) => {
    const given = pathname.split("/");
    const fitting = patterns.flatMap((pattern) => {
      const parameters = match(pattern.segments, given);
      return parameters === null ? [] : [{ ...pattern, parameters }];
    });
    const route = fitting.find((candidate) => candidate.method === method);
    if (route !== undefined) return { operation: route.operation, parameters: route.parameters };
    if (fitting.length === 0) throw unknownPath(pathname, fill(patterns, given));
    throw wrongMethod(method, pathname, fitting);
  };
}

function pathsOf({ path, without }: Operation): readonly string[] {
  return without === undefined ? [path] : [path, without.path];
}

function unknownPath(pathname: string, known: readonly string[]): ReeveError {
  const nearest = nearestWord(pathname, known);
  const hint = nearest === null ? "see /openapi.json." : `did you mean ${nearest}?`;
  return new ReeveError({
    code: "unknown-path",
    kind: "no-such-path",
    message: `There is nothing at ${showName(pathname)}; ${hint}`,
    details: { nearest },
  });
}

function wrongMethod(method: string, pathname: string, fitting: readonly { readonly method: string }[]): ReeveError {
  const allow = fitting.map((candidate) => candidate.method);
  return new ReeveError({
    code: "wrong-method",
    kind: "wrong-method",
    message: `${showName(pathname)} takes ${allow.join(" or ")}, not ${method}.`,
    details: { allow },
  });
}

function match(segments: readonly string[], given: readonly string[]): Record<string, string> | null {
  if (segments.length !== given.length) return null;
  const parameters: Record<string, string> = {};
  for (const [index, segment] of segments.entries()) {
    const value = given[index] ?? "";
    if (segment.startsWith("{") && value !== "") parameters[segment.slice(1, -1)] = decode(value);
    else if (segment !== value) return null;
  }
  return parameters;
}

/** The known paths, with the values that were given at their places. */
function fill(patterns: readonly { readonly segments: readonly string[] }[], given: readonly string[]): string[] {
  const filled = patterns.map(({ segments }) =>
    segments
      .map((segment, index) => (segment.startsWith("{") && given[index] !== "" ? (given[index] ?? segment) : segment))
      .join("/"),
  );
  return [...new Set(filled)];
}

/** A malformed escape stays as it is: the operation's schema will refuse it. */
function decode(value: string): string {
  try {
    return decodeURIComponent(value);
  } catch {
    return value;
  }
}
