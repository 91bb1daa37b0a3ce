/**
 * Types into a pane: pastes byte for byte, named keys, pauses. It decides which
 * text may be pasted. It never changes a text: it delivers or refuses it.
 */
import { randomUUID } from "node:crypto";
import { unlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Clock } from "../../platform/clock.ts";
import { failpoint } from "../../platform/failpoint.ts";
import { messageOf, ReeveError } from "../../platform/reeve-error.ts";
import type { InputStep } from "../../session/input.ts";
import { requireTypeable } from "../../session/message-text.ts";
import type { ControlCommand, ControlConnection } from "./control-connection.ts";
import type { Pane } from "./pane.ts";
import { quote } from "./quote.ts";
import { isAtLeast, type TmuxVersion } from "./tmux-version.ts";

export interface Typist {
  readonly connection: ControlConnection;
  readonly version: TmuxVersion;
  /** Where a long text is put, for milliseconds, so that tmux reads it from there; null: no disk is shared with it. */
  readonly stagingDir: string | null;
  /** Whether the terminal at that path hands on line by line. */
  readonly isLineMode: (tty: string) => Promise<boolean>;
  readonly clock: Clock;
}

/** Files of this name hold a text on its way, for milliseconds. */
export const PASTE_SUFFIX = ".paste";
/** Past this a file is faster than a command line, which tmux parses character by character (1 MB: 1.6 ms against 170). */
const INLINE_LENGTH = 2_048;
/** A terminal in line mode takes 4,095 bytes and the line feed, and drops what is beyond. */
const MAX_COOKED_LINE_BYTES = 4_095;

/** What stands between two pauses is one command line: the tmux server does all of it or nothing, whatever becomes of us. */
export async function typeInto(pane: Pane, steps: readonly InputStep[], typist: Typist): Promise<void> {
  if (steps.some((step) => step.type === "paste" && longestLine(step.text) > MAX_COOKED_LINE_BYTES)) {
    if (await typist.isLineMode(pane.tty)) throw lineTooLong();
  }
  if (pane.isInMode) await typist.connection.request([{ text: `copy-mode -q -t ${pane.id}` }]);
  let isBegun = false;
  for (const step of unbroken(steps)) {
    if (isBegun) failpoint("type.between");
    try {
      if ("ms" in step) await typist.clock.sleep(step.ms);
      else await typeAtOnce(pane, step, typist);
    } catch (error) {
      throw !isBegun && wasNotSent(error) ? error : deliveryUnknown(error);
    }
    if (!("ms" in step)) isBegun = true;
  }
}

type Keystroke = Exclude<InputStep, { type: "pause" }>;

function unbroken(steps: readonly InputStep[]): readonly (readonly Keystroke[] | { readonly ms: number })[] {
  const groups: (Keystroke[] | { readonly ms: number })[] = [];
  for (const step of steps) {
    const last = groups.at(-1);
    if (step.type === "pause") groups.push({ ms: step.ms });
    else if (step.type === "paste" && step.text === "") continue;
    else if (Array.isArray(last)) last.push(step);
    else groups.push([step]);
  }
  return groups;
}

async function typeAtOnce(pane: Pane, steps: readonly Keystroke[], typist: Typist): Promise<void> {
  const files: string[] = [];
  try {
    const commands: TypingCommand[] = [];
    for (const step of steps) {
      if (step.type === "key") commands.push(typing(`send-keys -t ${pane.id} -- ${quote(step.key)}`));
      else commands.push(...(await pasting(pane, step.text, typist, files)));
    }
    await run(commands, typist);
  } finally {
    for (const file of files) await unlink(file).catch(() => {}); // never written
  }
}

/** Before anything is typed: a refused step must not follow typed ones. */
export function checkSteps(steps: readonly InputStep[]): void {
  for (const step of steps) if (step.type === "paste") requireTypeable(step.text);
}

interface TypingCommand extends ControlCommand {
  /** The program gets something by it. */
  readonly isTyped: boolean;
}

const typing = (text: string): TypingCommand => ({ text, isTyped: true });
const preparing = (text: string): TypingCommand => ({ text, isTyped: false });

async function pasting(pane: Pane, text: string, typist: Typist, files: string[]): Promise<readonly TypingCommand[]> {
  const buffer = `reeve-${randomUUID()}`;
  // tmux 3.7 rewrites what it does not know how to display unless told -S.
  const flags = isAtLeast(typist.version, { major: 3, minor: 7 }) ? "-p -r -d -S" : "-p -r -d";
  const paste = typing(`paste-buffer ${flags} -b ${buffer} -t ${pane.id}`);
  const { stagingDir } = typist;
  if (stagingDir === null || text.length <= INLINE_LENGTH)
    return [preparing(`set-buffer -b ${buffer} -- ${quote(text)}`), paste];
  const file = join(stagingDir, `${buffer}${PASTE_SUFFIX}`);
  files.push(file);
  await writeFile(file, text, { mode: 0o600, flag: "wx" }).catch((error: unknown) => {
    throw notWritten(error);
  });
  return [preparing(`load-buffer -b ${buffer} ${quote(file)}`), paste];
}

async function run(commands: readonly TypingCommand[], { connection }: Typist): Promise<void> {
  const { replies, error } = await connection.request(commands);
  if (error === null) return;
  const isTyped = commands.slice(0, replies.length - 1).some((command) => command.isTyped);
  throw new ReeveError({
    code: isTyped ? "input-cut-short" : "input-refused",
    kind: isTyped ? "unavailable" : "conflict",
    message: `tmux did not take the input: ${error}.`,
  });
}

/** tmux refused it, or there was no connection to send it over. */
function wasNotSent(error: unknown): boolean {
  return error instanceof ReeveError && (error.code === "input-refused" || error.details["sent"] === false);
}

function notWritten(error: unknown): ReeveError {
  return new ReeveError({
    code: "message-not-written",
    kind: "unavailable",
    message: `The text could not be written to disk on its way to tmux (${messageOf(error)}); free some disk space and send it again.`,
    details: { sent: false },
  });
}

function deliveryUnknown(error: unknown): ReeveError {
  return new ReeveError({
    code: "delivery-unknown",
    kind: "unavailable",
    message: `It is not known whether the text arrived: ${messageOf(error)} Look at the session before sending it again.`,
  });
}

export function longestLine(text: string): number {
  if (text.length * 3 <= MAX_COOKED_LINE_BYTES) return text.length;
  let longest = 0;
  for (const line of text.split("\n")) longest = Math.max(longest, Buffer.byteLength(line));
  return longest;
}

/** Reads what `stty -a` says. Where it cannot tell, the terminal counts as raw: full-screen programs are, and they are the rule. */
export function saysLineMode(settings: string): boolean {
  return /(^|\s)icanon(\s|;|$)/.test(settings);
}

function lineTooLong(): ReeveError {
  return new ReeveError({
    code: "line-too-long",
    kind: "conflict",
    message: `The program reads line by line, and such a terminal cuts lines over ${MAX_COOKED_LINE_BYTES} bytes; break the text into shorter lines.`,
  });
}
