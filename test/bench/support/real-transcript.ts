/**
 * Transcripts as long as one likes, made of lines that the real agents wrote
 * (test/golden): the same conversation again and again, each time with ids and
 * times of its own. No holes: every byte is written.
 */
import { closeSync, mkdirSync, openSync, readFileSync, writeSync } from "node:fs";
import { dirname, join } from "node:path";

const GOLDEN = join(import.meta.dirname, "..", "..", "golden");

export const REAL_TRANSCRIPTS = {
  codex: "codex/0.166.0/rollout-hooks-mode.jsonl",
  claude: "claude/2.1.325/transcript.jsonl",
  gemini: "gemini/0.61.0/transcript.jsonl",
} as const;

export type RealAgent = keyof typeof REAL_TRANSCRIPTS;

export function goldenLines(path: string): readonly string[] {
  return readFileSync(join(GOLDEN, path), "utf8").trimEnd().split("\n");
}

const MB = 1024 * 1024;
const UUID = "[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}";
/** Also `call_14`, `msg_000089` and Gemini's 32 digits; not a hash of 64. */
const ID = new RegExp(`${UUID}|(?<![0-9a-f])[0-9a-f]{32}(?![0-9a-f])|(?<=(?:call|fc|msg)_)\\d+(?![\\da-f-])`, "g");
const TIME = /\d{4}-\d{2}-\d{2}T(?=\d{2}:\d{2}:\d{2}\.\d{3}Z)/g;
/** Filled in for each block; neither stands raw in JSON. */
const BLOCK = "\u0001".repeat(4);
const DAY = "\u0002".repeat(10);

/** At least that many bytes; returns how many lines. */
export function writeRealTranscript(path: string, agent: RealAgent, bytes: number): number {
  const [first = "", ...rest] = goldenLines(REAL_TRANSCRIPTS[agent]);
  // Gemini's word for the whole conversation so far: again and again, it would make each a dozen messages long.
  const turns = rest.filter((line) => !line.startsWith('{"$set":{"messages":'));
  const conversation = new RegExp(UUID).exec(first)?.[0] ?? "";
  let text = "";
  let copies = 0;
  for (; text.length < MB; copies += 1) text += `${renewed(turns.join("\n"), copies, conversation)}\n`;
  const block = Buffer.from(text);
  const holes = { [BLOCK]: offsetsOf(block, BLOCK), [DAY]: offsetsOf(block, DAY) };

  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const file = openSync(path, "w", 0o600);
  writeSync(file, `${first}\n`);
  let lines = 1;
  for (let number = 0, written = 0; written < bytes; number += 1) {
    const day = new Date(Date.UTC(2026, 0, 1 + number)).toISOString().slice(0, DAY.length);
    for (const at of holes[BLOCK] ?? []) block.write(number.toString(16).padStart(BLOCK.length, "0"), at, "latin1");
    for (const at of holes[DAY] ?? []) block.write(day, at, "latin1");
    if (writeSync(file, block) !== block.length) throw new Error(`${path} could not be written whole`);
    written += block.length;
    lines += copies * turns.length;
  }
  closeSync(file);
  return lines;
}

/** Ids keep their length and what belongs together; the conversation's own stays. */
function renewed(text: string, copy: number, conversation: string): string {
  const number = copy.toString(16).padStart(4, "0");
  return text
    .replaceAll(ID, (id) => {
      if (id === conversation) return id;
      return id.length < 32 ? `${id}${BLOCK}${number}` : `${BLOCK}${number}${id.slice(8)}`;
    })
    .replaceAll(TIME, `${DAY}T`);
}

function offsetsOf(block: Buffer, hole: string): readonly number[] {
  const offsets: number[] = [];
  for (let at = block.indexOf(hole); at !== -1; at = block.indexOf(hole, at + hole.length)) offsets.push(at);
  return offsets;
}
