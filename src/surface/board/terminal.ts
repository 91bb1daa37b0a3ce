/**
 * The terminal that the board has: raw mode, the alternate screen, its size and
 * its keys. Owns giving it back: on every way out but kill -9 the terminal is
 * as it was.
 */
import { constants } from "node:os";
import { holdWarnings } from "./held-warnings.ts";
import { createKeyDecoder } from "./key.ts";
import type { Key } from "./key.ts";
import type { Size } from "./render.ts";

export interface BoardTerminal {
  size(): Size;
  write(text: string): void;
  /** Takes the terminal; the screen is empty then. */
  enter(): void;
  /** Gives it back, for another program or for good. */
  leave(): void;
  /** As Ctrl-Z does; returns when the program goes on. */
  suspend(): Promise<void>;
}

export interface TerminalEvents {
  onKey(key: Key): void;
  onResize(): void;
  /** It is gone: nobody reads or types any more. */
  onClose(): void;
}

const ENTER = "\u001B[?1049h\u001B[?2004h\u001B[?25l\u001B[2J";
const LEAVE = "\u001B[?2026l\u001B[0m\u001B[?2004l\u001B[?25h\u001B[?1049l";
/** Over a slow line the rest of a sequence may take this long; as the Esc key it is not noticed. */
const ESCAPE_MS = 60;

/** Where no shell could continue it (a tmux pane of its own), the kernel does not stop it, and it runs on. */
const STOP_MS = 200;

const ENDING = ["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT"] as const;

export function openTerminal(events: TerminalEvents): BoardTerminal {
  const { stdin, stdout } = process;
  const decoder = createKeyDecoder();
  let isEntered = false;
  let undecided: NodeJS.Timeout | undefined;
  let letGo = (): void => undefined;

  const tell = (keys: readonly Key[]): void => {
    for (const key of keys) events.onKey(key);
  };
  const onData = (text: string): void => {
    clearTimeout(undecided);
    tell(decoder.push(text));
    if (decoder.isUndecided()) undecided = setTimeout(() => tell(decoder.flush()), ESCAPE_MS);
  };
  const giveBack = (): void => {
    if (!isEntered) return;
    isEntered = false;
    stdout.write(LEAVE);
    stdin.setRawMode(false);
    letGo();
  };
  const onSignal = (signal: NodeJS.Signals): void => {
    giveBack();
    process.exit(128 + constants.signals[signal]);
  };
  process.on("exit", giveBack);
  // Before what it says is printed.
  process.on("uncaughtExceptionMonitor", giveBack);
  stdin.setEncoding("utf8");
  stdin.on("end", () => events.onClose());
  stdin.on("error", () => events.onClose());
  stdout.on("error", () => events.onClose());
  stdout.on("resize", () => events.onResize());

  const terminal: BoardTerminal = {
    size: () => ({ columns: Math.max(1, stdout.columns || 80), rows: Math.max(1, stdout.rows || 24) }),
    write: (text) => void (isEntered && stdout.write(text)),
    enter() {
      for (const signal of ENDING) process.removeAllListeners(signal).on(signal, onSignal);
      if (!isEntered) letGo = holdWarnings();
      isEntered = true;
      stdin.setRawMode(true);
      stdin.on("data", onData).resume();
      stdout.write(ENTER);
    },
    leave() {
      stdin.off("data", onData).pause();
      giveBack();
      for (const signal of ENDING) process.removeAllListeners(signal);
    },
    suspend() {
      terminal.leave();
      return new Promise((resolve) => {
        const goOn = (): void => {
          process.off("SIGCONT", goOn);
          clearTimeout(unstopped);
          terminal.enter();
          resolve();
        };
        process.on("SIGCONT", goOn);
        process.kill(0, "SIGTSTP");
        const unstopped = setTimeout(goOn, STOP_MS);
      });
    },
  };
  return terminal;
}
