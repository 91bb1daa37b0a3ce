/** One answer, for a program or for a person. */
import type { CliContext } from "./command.ts";

export function answer(context: CliContext, value: object, human: () => string): void {
  context.output.print(context.isJson ? `${JSON.stringify(value)}\n` : lineEnded(human()));
}

function lineEnded(text: string): string {
  return text === "" || text.endsWith("\n") ? text : `${text}\n`;
}
