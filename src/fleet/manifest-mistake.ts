/** Says what the schema of a manifest found, as sentences with line and column. */
import type * as z from "zod/mini";
import { nearestWord } from "../platform/nearest-word.ts";
import { showName, showValue } from "../platform/shown-value.ts";
import { TIME_OUT_NAMES } from "../session/time-out.ts";
import type { Mistake } from "./manifest.ts";
import { DEFAULT_KEYS, MANIFEST, SERVICE_KEYS, SESSION_KEYS, WORK_KEYS } from "./manifest-schema.ts";
import type { Position, TomlPath, TomlPositions } from "./toml-positions.ts";

type Issue = z.core.$ZodIssue;

const START: Position = { line: 1, column: 1 };

/** `isSecret`: what stands there is not quoted, and is told as a secret already. */
export function schemaMistakes(
  issues: readonly Issue[],
  tree: unknown,
  positions: TomlPositions,
  isSecret: (path: TomlPath) => boolean,
): readonly Mistake[] {
  return issues.flatMap((issue): readonly Mistake[] => {
    const path = issue.path.filter((part) => typeof part !== "symbol");
    if (issue.code === "unrecognized_keys") return issue.keys.map((key) => unknownKey(key, path, positions));
    if (isSecret(path)) return [];
    return [badValue(issue, path, tree, positions)];
  });
}

function badValue(issue: Issue, path: TomlPath, tree: unknown, positions: TomlPositions): Mistake {
  const value = path.reduce(valueIn, tree);
  const name = nameOf(path);
  const { message } = issue;
  if (issue.code === "invalid_key")
    return {
      ...(positions.ofKey(path) ?? START),
      code: "bad-value",
      message: `The name ${showName(String(path.at(-1)))} must be made of ${issue.issues[0]?.message ?? "other letters"}.`,
    };
  if (value === undefined)
    return {
      ...(positions.ofKey(path.slice(0, -1)) ?? START),
      code: "missing-key",
      message: `${name} is missing; it must be ${message}.`,
    };
  return {
    ...(positions.ofValue(path) ?? START),
    code: "bad-value",
    message: `${name} must be ${message}, not ${showValue(value)}.`,
  };
}

function unknownKey(key: string, path: TomlPath, positions: TomlPositions): Mistake {
  const known = keysAt(path);
  const near = nearestWord(key, known);
  const advice =
    key === "env"
      ? "put variables into a file and name it with env_file"
      : near === null
        ? `the keys here are ${known.join(", ")}`
        : `did you mean ${near}?`;
  return {
    ...(positions.ofKey([...path, key]) ?? START),
    code: "unknown-key",
    message: `There is no key ${showName(key)}${placeOf(path)}; ${advice}.`.replace("?.", "?"),
  };
}

function keysAt([table, second, third]: TomlPath): readonly string[] {
  const inner = table === "defaults" ? second : third;
  if (table === undefined) return Object.keys(MANIFEST.shape);
  if (inner === "timeouts") return TIME_OUT_NAMES;
  if (inner === "resources") return ["cpus", "memory", "pids"];
  if (table === "defaults") return Object.keys(DEFAULT_KEYS);
  if (table === "services") return Object.keys(SERVICE_KEYS);
  return Object.keys(table === "work" ? WORK_KEYS : SESSION_KEYS);
}

function placeOf([table]: TomlPath): string {
  if (table === undefined) return " in a manifest";
  return table === "sessions" ? " of a session" : ` in ${table}`;
}

/** `restart`, `timeouts.turn`, `args[3]`. */
function nameOf(path: TomlPath): string {
  const inner = path[0] === "sessions" || path[0] === "services" ? path.slice(2) : path.slice(1);
  const shown = inner.length === 0 ? path : inner;
  return shown.reduce<string>((name, part) => {
    if (typeof part === "number") return `${name}[${part}]`;
    return name === "" ? part : `${name}.${part}`;
  }, "");
}

function valueIn(value: unknown, part: string | number): unknown {
  return typeof value === "object" && value !== null
    ? (value as Readonly<Record<string | number, unknown>>)[part]
    : undefined;
}
