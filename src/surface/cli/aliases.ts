/** Words that people try because other programs have them, and what they mean here. Pure. */
import { usage } from "./usage.ts";

/** `reeve <alias> words` is `reeve <these> words`. */
export const ALIASES: ReadonlyMap<string, readonly string[]> = new Map([
  ["ls", ["list"]],
  ["ps", ["list"]],
  ["new", ["start"]],
  ["logs", ["data"]],
  ["stop", ["end"]],
  ["kill", ["end", "--when", "now"]],
  ["version", ["--version"]],
  // As the operation and its MCP tool are called.
  ["next-work", ["work", "next"]],
]);

/** Ones that mean several things elsewhere: the right word depends on what somebody wants. */
const REFERRED: ReadonlyMap<string, string> = new Map([
  ["rm", "end it with reeve end NAME: it then leaves the list, and its files stay in its directory"],
  ["remove", "end it with reeve end NAME: it then leaves the list, and its files stay in its directory"],
  ["delete", "end it with reeve end NAME: it then leaves the list, and its files stay in its directory"],
  ["run", "start a program with reeve start command -- PROGRAM, an agent with reeve start AGENT"],
  ["exec", "type into a session with reeve send NAME TEXT, or open its terminal with reeve attach NAME"],
  ["kill-server", "end every session with reeve end --all, the daemon with reeve daemon stop"],
  ["inspect", "see how Reeve knows a session's state with reeve explain NAME"],
]);

/** The line as it is meant; throws for a word that is only referred. */
export function unalias(words: readonly string[]): readonly string[] {
  const [name = "", ...rest] = words;
  if (name === "status") return [rest.some((word) => !word.startsWith("-")) ? "explain" : "list", ...rest];
  const referred = REFERRED.get(name);
  if (referred !== undefined) throw usage("unknown-command", `There is no command "${name}"; ${referred}.`);
  const meant = ALIASES.get(name);
  return meant === undefined ? words : [...meant, ...rest];
}
