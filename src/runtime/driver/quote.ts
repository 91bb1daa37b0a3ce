/**
 * Quotes arguments so that tmux's own command parser reads them back byte for
 * byte. Everything on a command line is quoted or checked by this file.
 */
import { ReeveError } from "../../platform/reeve-error.ts";

const NAME = /^[a-z0-9-]{1,64}$/;

/**
 * tmux's double quotes still read `\`, `"`, `$` and a leading `~`, and a line
 * feed would end the command: those are escaped, control characters in octal.
 */
export function quote(value: string): string {
  if (value.includes("\0")) {
    throw new ReeveError({
      code: "nul-in-argument",
      kind: "usage",
      message: "An argument, path or variable holds a NUL byte, which no program can be given; remove it.",
    });
  }
  return `"${value.replace(/[\\"$~\u0001-\u001f\u007f]/g, escapeOne)}"`;
}

function escapeOne(character: string): string {
  const code = character.charCodeAt(0);
  return code < 0x20 || code === 0x7f ? `\\${code.toString(8).padStart(3, "0")}` : `\\${character}`;
}

/** Session ids and labels, checked here again because tmux rewrites or expands any other character. */
export function checkName(value: string): string {
  if (NAME.test(value)) return value;
  throw new ReeveError({
    code: "name-invalid",
    kind: "usage",
    message: "A session id or label must be 1 to 64 of a-z, 0-9 and '-'.",
  });
}
