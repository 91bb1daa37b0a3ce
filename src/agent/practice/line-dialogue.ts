/** The dialogue without a terminal: each line of input is a prompt, or the answer to a question. */
import type { Readable, Writable } from "node:stream";
import { stripTerminal } from "../../platform/terminal-text.ts";
import { answerIn, type Dialogue } from "./dialogue.ts";

export function lineDialogue(input: Readable, output: Writable): Dialogue {
  const lines: string[] = [];
  let rest = "";
  let ended = false;
  let wake: (() => void) | null = null;
  let interruptTurn: (() => void) | null = null;

  input.setEncoding("utf8");
  input.on("data", (chunk: string) => {
    const parts = (rest + chunk).split("\n");
    rest = parts.pop() ?? "";
    lines.push(...parts.map((line) => line.replace(/\r$/, "")));
    wake?.();
  });
  for (const event of ["end", "error", "close"]) {
    input.on(event, () => {
      if (rest !== "") lines.push(rest);
      rest = "";
      ended = true;
      wake?.();
    });
  }

  /** The next line, or null at the end of the input. */
  async function nextLine(signal?: AbortSignal): Promise<string | null> {
    for (;;) {
      const line = lines.shift();
      if (line !== undefined) return line;
      if (ended) return null;
      await new Promise<void>((resolve, reject) => {
        wake = resolve;
        signal?.addEventListener("abort", () => reject(new Error("interrupted")), { once: true });
      });
    }
  }

  const dialogue: Dialogue = {
    say: (text) => void output.write(`${stripTerminal(text)}\n`),
    async nextPrompt() {
      for (;;) {
        const line = await nextLine();
        if (line === null || line.trim() !== "") return line;
      }
    },
    beginTurn: (interrupt) => void (interruptTurn = interrupt),
    endTurn: () => void (interruptTurn = null),
    async ask(question, signal) {
      dialogue.say(`${question} [y/n]`);
      for (;;) {
        const line = await nextLine(signal);
        // Nobody is left to agree.
        if (line === null) return false;
        const answer = answerIn(line);
        if (answer !== null) return answer;
        dialogue.say("Please answer y or n.");
      }
    },
    interrupt() {
      if (interruptTurn !== null) return interruptTurn();
      ended = true;
      lines.length = 0;
      wake?.();
    },
    close() {},
  };
  return dialogue;
}
