/** Prints one answer, as JSON for a program or as text for a person. */
import type { CliContext } from "./command.ts";

export function answer(context: CliContext, value: object, human: () => string): void {
  if (context.isJson) context.output.printJson(value);
  else context.output.print(lineEnded(human()));
}

/** The same in sentences of Reeve's own. */
export function answerInWords(context: CliContext, value: object, human: () => string): void {
  if (context.isJson) context.output.printJson(value);
  else context.output.say(human());
}

function lineEnded(text: string): string {
  return text === "" || text.endsWith("\n") ? text : `${text}\n`;
}
