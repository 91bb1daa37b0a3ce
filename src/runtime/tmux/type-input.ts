/**
 * Typing into a pane: pastes byte for byte, named keys, pauses. Owns what may
 * be pasted. Never alters a text to make it fit: it is delivered or refused.
 */
import { execFile } from "node:child_process";
import { randomUUID } from "node:crypto";
import { unlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Clock } from "../../platform/clock.ts";
import { messageOf, ReeveError } from "../../platform/reeve-error.ts";
import type { InputStep } from "../../session/input.ts";
import { requireTypeable } from "../../session/message-text.ts";
import type { ControlCommand, ControlConnection } from "./control-connection.ts";
import type { Pane } from "./pane.ts";
import { quote } from "./quote.ts";
import { isAtLeast, type TmuxVersion } from "./tmux-binary.ts";

export interface Typist {
  readonly connection: ControlConnection;
  readonly version: TmuxVersion;
  readonly runDir: string;
  readonly clock: Clock;
}

/** Files of this name hold a text on its way, for milliseconds. */
export const PASTE_SUFFIX = ".paste";
/** Past this a file is faster than a command line, which tmux parses character by character (1 MB: 1.6 ms against 170). */
const INLINE_LENGTH = 2_048;
/** A terminal in line mode takes 4,095 bytes and the line feed, and drops what is beyond. */
const MAX_COOKED_LINE_BYTES = 4_095;

export async function typeInto(pane: Pane, steps: readonly InputStep[], typist: Typist): Promise<void> {
  if (steps.some((step) => step.type === "paste" && longestLine(step.text) > MAX_COOKED_LINE_BYTES)) {
    if (await isLineMode(pane.tty)) throw lineTooLong();
  }
  if (pane.isInMode) await typist.connection.request([{ text: `copy-mode -q -t ${pane.id}` }]);
  for (const [index, step] of steps.entries()) {
    try {
      await carryOut(pane, step, typist);
    } catch (error) {
      throw index === 0 && wasNotSent(error) ? error : deliveryUnknown(error);
    }
  }
}

async function carryOut(pane: Pane, step: InputStep, typist: Typist): Promise<void> {
  switch (step.type) {
    case "paste":
      return step.text === "" ? undefined : paste(pane, step.text, typist);
    case "key":
      return run([{ text: `send-keys -t ${pane.id} -- ${quote(step.key)}` }], typist);
    case "pause":
      return typist.clock.sleep(step.ms);
  }
}

/** Before anything is typed: a refused step must not follow typed ones. */
export function checkSteps(steps: readonly InputStep[]): void {
  for (const step of steps) if (step.type === "paste") requireTypeable(step.text);
}

async function paste(pane: Pane, text: string, typist: Typist): Promise<void> {
  const buffer = `reeve-${randomUUID()}`;
  // tmux 3.7 rewrites what it does not know how to display unless told -S.
  const flags = isAtLeast(typist.version, { major: 3, minor: 7 }) ? "-p -r -d -S" : "-p -r -d";
  const pasteCommand = { text: `paste-buffer ${flags} -b ${buffer} -t ${pane.id}` };
  if (text.length <= INLINE_LENGTH) {
    return run([{ text: `set-buffer -b ${buffer} -- ${quote(text)}` }, pasteCommand], typist);
  }
  const file = join(typist.runDir, `${buffer}${PASTE_SUFFIX}`);
  try {
    await writeFile(file, text, { mode: 0o600, flag: "wx" }).catch((error: unknown) => {
      throw notWritten(error);
    });
    await run([{ text: `load-buffer -b ${buffer} ${quote(file)}` }, pasteCommand], typist);
  } finally {
    await unlink(file).catch(() => {}); // never written
  }
}

async function run(commands: readonly ControlCommand[], { connection }: Typist): Promise<void> {
  const answer = await connection.request(commands);
  if (answer.error === null) return;
  throw new ReeveError({
    code: "input-refused",
    kind: "conflict",
    message: `tmux did not take the input: ${answer.error}.`,
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
    message: `The text could not be put on the disk on its way (${messageOf(error)}); make room and send it again.`,
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

/** Where stty cannot tell, the terminal counts as raw: full-screen programs are, and they are the rule. */
function isLineMode(tty: string): Promise<boolean> {
  return new Promise((resolve) => {
    execFile("stty", ["-F", tty, "-a"], { timeout: 2_000 }, (error, stdout) => {
      resolve(error === null && /(^|\s)icanon(\s|;|$)/.test(stdout));
    });
  });
}

function lineTooLong(): ReeveError {
  return new ReeveError({
    code: "line-too-long",
    kind: "conflict",
    message: `The program reads line by line, and such a terminal cuts lines over ${MAX_COOKED_LINE_BYTES} bytes; break the text into shorter lines.`,
  });
}
