/**
 * Large arguments on their way through tmux. For each word of a command line
 * tmux (3.3a) goes through all words before it, several times: a command of 900
 * words with 1.8 MB kept it, and all sessions in it, busy for 2 s, and it did
 * the same whenever it told the command line. So many words travel as a few
 * variables of the pane's, in memory only, and the wrapper takes them apart
 * again (wrapper-script.ts) at a character that none of them holds.
 */

/** `<name>0`, `<name>1`, …: the words, each followed by the separator, cut anywhere between two characters. */
export const PACKED_VARIABLE = "REEVE_ARGUMENTS_";
/** What may be started at all (exec-size.ts) is in fewer. */
export const MOST_PACKED = 20;

/** Words times bytes: tmux has done this much in 30 ms. */
const MOST_PLAIN_WORK = 20_000_000;
/** Below what the kernel takes as one variable. */
const PIECE_BYTES = 120_000;
/** Control characters that no shell treats in a way of its own; rarer ones first. */
const SEPARATORS = ["\u001f", "\u001e", "\u001d", "\u001c", "\u0019", "\u0018", "\u0016", "\u0015", "\u0014"];

export interface Packed {
  /** What stands on the command line: the separator and the words, or none and these in variables. */
  readonly words: readonly string[];
  readonly variables: Readonly<Record<string, string>>;
}

export function packArguments(argv: readonly string[]): Packed {
  const plain = { words: ["", ...argv], variables: {} };
  const bytes = argv.reduce((sum, word) => sum + Buffer.byteLength(word), 0);
  if (argv.length * bytes <= MOST_PLAIN_WORK) return plain;
  const separator = SEPARATORS.find((character) => !argv.some((word) => word.includes(character)));
  if (separator === undefined) return plain; // slower, and right all the same
  const pieces = piecesOf(Buffer.from(argv.map((word) => `${word}${separator}`).join("")));
  const variables = Object.fromEntries(pieces.map((piece, index) => [`${PACKED_VARIABLE}${index}`, piece]));
  return { words: [separator], variables };
}

export function isPackedVariable(name: string): boolean {
  return name.startsWith(PACKED_VARIABLE);
}

function piecesOf(bytes: Buffer): readonly string[] {
  const pieces: string[] = [];
  for (let from = 0; from < bytes.length;) {
    let to = Math.min(bytes.length, from + PIECE_BYTES);
    // Not inside a character of UTF-8.
    while (to < bytes.length && ((bytes[to] ?? 0) & 0b1100_0000) === 0b1000_0000) to -= 1;
    pieces.push(bytes.toString("utf8", from, to));
    from = to;
  }
  return pieces;
}
