/** A text that may be given as an argument, in a file, or on stdin: a message, a prompt. */
import { readFileSync } from "node:fs";
import { errnoOf, messageOf } from "../../platform/reeve-error.ts";
import { usage } from "./usage.ts";
import type { CliContext, CommandInput } from "./command.ts";
import { readStandardInput } from "./standard-input.ts";
import { absolutePath } from "./working-directory.ts";

/** `argument` is the text, - for stdin, or undefined: then --file decides, and without it the answer is null. */
export function givenText(
  input: CommandInput,
  context: CliContext,
  argument: string | undefined,
  { isExact = false }: { readonly isExact?: boolean } = {},
): string | null {
  const file = input.text("file");
  if (file !== undefined && argument !== undefined) throw usage("text-twice", "Give the text or --file, not both.");
  if (file !== undefined) {
    const path = absolutePath(context, file);
    return readText(() => readFileSync(path), `The file ${file}`, isExact);
  }
  if (argument !== "-") return argument ?? null;
  return readText(readStandardInput, "stdin", isExact);
}

/** The line end that editors and programs put last is Enter's business, unless Enter is not pressed. */
export function readText(read: () => Buffer, what: string, isExact: boolean): string {
  try {
    const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(read());
    return isExact ? text : text.replace(/\r?\n$/, "");
  } catch (error) {
    if (errnoOf(error) === "ENOENT") throw usage("text-unreadable", `${what} does not exist; check the path.`);
    throw usage("text-unreadable", `${what} cannot be read (${messageOf(error)}); check that it is UTF-8 text.`);
  }
}
