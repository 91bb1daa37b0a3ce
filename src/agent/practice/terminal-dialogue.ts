/**
 * The dialogue in a terminal: raw keyboard, bracketed paste, one row at the
 * bottom for what is being typed, the conversation above it, and the state in
 * the window title. Text that is typed during a turn becomes the next prompt.
 */
import type { ReadStream, WriteStream } from "node:tty";
import { stripTerminal } from "../../platform/terminal-text.ts";
import { answerIn, type Dialogue } from "./dialogue.ts";
import { type Key, keyDecoder, PASTE_LIMIT } from "./key-decoder.ts";
import { lastCells, summaryOf } from "./fit-text.ts";

type Mode =
  | { readonly type: "idle"; readonly take: ((prompt: string | null) => void) | null }
  | { readonly type: "working"; readonly interrupt: () => void }
  | { readonly type: "asking"; readonly interrupt: () => void; readonly answer: (approved: boolean) => void };

/** How long a lone escape character may wait for the rest of a sequence: longer than a local pty needs, shorter than a person notices. */
const ESCAPE_MS = 50;
const SPINNER_MS = 120;
const SPINNER = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];
const PASTE_MODE_ON = "\x1b[?2004h";
const PASTE_MODE_OFF = "\x1b[?2004l";

export function terminalDialogue(input: ReadStream, output: WriteStream, onHangup: () => void): Dialogue {
  const decoder = keyDecoder();
  const queue: string[] = [];
  let mode: Mode = { type: "idle", take: null };
  let leaving = false;
  let typed = "";
  let spin = 0;
  let escapeTimer: NodeJS.Timeout | undefined;

  input.setRawMode(true);
  input.setEncoding("utf8");
  input.on("data", (chunk: string) => {
    clearTimeout(escapeTimer);
    decoder.push(chunk).forEach(press);
    if (decoder.undecided) escapeTimer = setTimeout(() => decoder.flush().forEach(press), ESCAPE_MS);
    draw();
  });
  for (const event of ["end", "error"]) input.on(event, onHangup);
  output.on("error", onHangup);
  output.on("resize", draw);
  output.write(PASTE_MODE_ON);
  const spinner = setInterval(() => {
    if (mode.type !== "working") return;
    spin++;
    draw();
  }, SPINNER_MS);

  function press(key: Key): void {
    switch (key.type) {
      case "text":
        return type(key.text);
      case "paste":
        typed += key.text.slice(0, Math.max(0, PASTE_LIMIT - typed.length));
        if (key.cut) say(`Only the first ${PASTE_LIMIT} characters of the paste were kept.`);
        return;
      case "enter":
        return submit();
      case "backspace":
        typed = typed.replace(/.$/su, "");
        return;
      case "kill-line":
        typed = "";
        return;
      case "escape":
        if (mode.type !== "idle") mode.interrupt();
        return;
      case "interrupt":
        return interrupt();
      case "end-of-input":
        if (mode.type === "idle" && typed === "") leave();
        return;
    }
  }

  function type(text: string): void {
    // A question is answered by one key; the rest of a typed "yes" goes with it.
    const answer = mode.type === "asking" && typed === "" ? answerIn(text.charAt(0)) : null;
    if (mode.type === "asking" && answer !== null) return mode.answer(answer);
    if (typed.length + text.length <= PASTE_LIMIT) typed += text;
  }

  function submit(): void {
    const text = typed;
    typed = "";
    if (text.trim() === "") return;
    if (mode.type === "asking") {
      const answer = answerIn(text);
      return answer === null ? say("Please answer y or n.") : mode.answer(answer);
    }
    if (mode.type === "idle" && mode.take !== null) return mode.take(text);
    queue.push(text);
  }

  function interrupt(): void {
    if (mode.type === "idle") leave();
    else mode.interrupt();
  }

  function leave(): void {
    leaving = true;
    if (mode.type === "idle") mode.take?.(null);
  }

  function enter(next: Mode): void {
    mode = next;
    const state = { idle: "ready", working: "working", asking: "waiting for an answer" }[next.type];
    output.write(`\x1b]2;practice: ${state}\x07`);
    draw();
  }

  function draw(): void {
    const lead = {
      idle: "› ",
      working: `${SPINNER[spin % SPINNER.length]} Working, Esc interrupts › `,
      asking: "[y/n] › ",
    }[mode.type];
    const room = Math.max(8, (output.columns || 80) - lead.length - 1);
    const tail = stripTerminal(typed.slice(-2 * room))
      .replaceAll("\n", "⏎")
      .replaceAll("\t", " ");
    output.write(`\r\x1b[2K${lead}${lastCells(tail, room)}`);
  }

  function say(text: string): void {
    output.write(`\r\x1b[2K${stripTerminal(text).replaceAll("\n", "\r\n")}\r\n`);
    draw();
  }

  return {
    say,
    async nextPrompt() {
      const prompt = leaving
        ? null
        : (queue.shift() ?? (await new Promise<string | null>((take) => enter({ type: "idle", take }))));
      if (prompt !== null) say(`› ${summaryOf(prompt, 500)}`);
      return prompt;
    },
    beginTurn: (interruptTurn) => enter({ type: "working", interrupt: interruptTurn }),
    endTurn: () => enter({ type: "idle", take: null }),
    async ask(question, signal) {
      if (mode.type !== "working") throw new Error("a question outside a turn");
      const { interrupt: interruptTurn } = mode;
      const before = typed;
      typed = "";
      say(`${question} [y/n]`);
      try {
        return await new Promise<boolean>((answer, reject) => {
          signal.addEventListener("abort", () => reject(new Error("interrupted")), { once: true });
          enter({ type: "asking", interrupt: interruptTurn, answer });
        });
      } finally {
        typed = before;
        enter({ type: "working", interrupt: interruptTurn });
      }
    },
    interrupt,
    close() {
      clearInterval(spinner);
      clearTimeout(escapeTimer);
      input.pause();
      input.setRawMode(false);
      output.write(`\r\x1b[2K${PASTE_MODE_OFF}\x1b]2;\x07`);
    },
  };
}
