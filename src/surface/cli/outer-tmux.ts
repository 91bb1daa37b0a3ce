/**
 * The tmux that the caller may be in: which keys it takes for itself, and what to press so that one reaches the program
 * inside. Only asked for attaching, and loaded only then.
 */
import { execFile } from "node:child_process";

type Environment = Readonly<Record<string, string | undefined>>;

/** As `taken` of get_attach_command; null: there is one, but it did not say. */
export async function takenKeys(environment: Environment): Promise<readonly string[] | null> {
  if ((environment["TMUX"] ?? "") === "") return [];
  const [prefixes, bindings] = await Promise.all([
    ask(environment, ["display-message", "-p", "#{prefix}\n#{prefix2}"]),
    ask(environment, ["list-keys", "-T", "prefix"]),
  ]);
  return prefixes === null || bindings === null ? null : readTakenKeys(prefixes, bindings);
}

export function readTakenKeys(prefixes: string, bindings: string): readonly string[] {
  const [first = "", second = ""] = prefixes.split("\n").map((line) => line.trim());
  const bound = bindings.split("\n").flatMap((line) => {
    const [, key, command] = /\sprefix\s+(\S+)\s+(send-prefix(?: -2)?)$/.exec(line.trim()) ?? [];
    return key === undefined || command === undefined ? [] : [{ key, command }];
  });
  const taken = (prefix: string, command: string): readonly string[] => {
    if (prefix === "" || prefix === "None") return [];
    const passing = bound.find((binding) => binding.command === command);
    return [`${prefix}=${passing === undefined ? "" : `${first} ${passing.key}`}`];
  };
  const all = [...taken(first, "send-prefix"), ...(second === first ? [] : taken(second, "send-prefix -2"))];
  return all.filter((one) => /^[A-Za-z0-9^_ =-]+$/.test(one));
}

/** It answers in milliseconds, or is not worth waiting for. */
const PATIENCE_MS = 2_000;

function ask(environment: Environment, args: readonly string[]): Promise<string | null> {
  return new Promise((resolve) => {
    execFile("tmux", [...args], { env: { ...environment }, timeout: PATIENCE_MS }, (error, stdout) =>
      resolve(error === null ? stdout : null),
    );
  });
}
