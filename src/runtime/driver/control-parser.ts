/**
 * Parses the lines of tmux's control mode. Works on bytes and keeps no more
 * than one unfinished line and one unfinished reply, neither of which may grow
 * without end: in a container, whoever answers may not be tmux.
 *
 * What runs in a pane is not trusted, and `capture-pane` prints its screen
 * between `%begin` and `%end`: a screen may hold a forged `%end`. So a reply
 * that can hold such text is read by a number of lines known beforehand, and
 * only then is its end looked for.
 */
export interface ControlEvents {
  /** Asked at each `%begin` of a reply to us: its exact number of body lines, or null where each line is tmux's own. */
  bodyLines(): number | null;
  reply(reply: Reply): void;
  /** What the client's own start said, and later the commands of hooks. */
  otherReply(reply: Reply): void;
  output(paneId: string, bytes: Buffer): void;
  notification(name: string, rest: string): void;
}

export interface Reply {
  readonly isError: boolean;
  readonly lines: readonly string[];
}

interface OpenReply {
  /** `<time> <number> <flags>`: the end line repeats it. */
  readonly header: string;
  readonly isOurs: boolean;
  readonly lines: string[];
  readonly expected: number | null;
}

/** A reply of all of a large history has some megabytes, a line some kilobytes. */
const MOST_LINE_BYTES = 8_388_608;
const MOST_REPLY_BYTES = 67_108_864;

const LINE_FEED = 0x0a;
const PERCENT = 0x25;
const BACKSLASH = 0x5c;

export function createControlParser(events: ControlEvents): { push(chunk: Buffer): void } {
  let unfinished: Buffer[] = [];
  let unfinishedBytes = 0;
  let open: OpenReply | null = null;
  let replyBytes = 0;

  const takeLine = (line: Buffer): void => {
    if (open === null) return outside(line);
    replyBytes += line.length + 1;
    if (replyBytes > MOST_REPLY_BYTES) throw new Error("an answer of tmux has no end");
    const { expected, lines, header } = open;
    if (expected !== null && lines.length < expected) return void lines.push(line.toString("utf8"));
    const text = line.toString("utf8");
    const isError = text === `%error ${header}`;
    if (!isError && text !== `%end ${header}`) {
      if (expected !== null) throw new Error(`tmux printed more than the ${expected} lines it announced`);
      return void lines.push(text);
    }
    const { isOurs } = open;
    open = null;
    if (isOurs) events.reply({ isError, lines });
    else events.otherReply({ isError, lines });
  };

  const outside = (line: Buffer): void => {
    if (line[0] !== PERCENT) return;
    const space = line.indexOf(0x20);
    const name = line.toString("latin1", 1, space < 0 ? line.length : space);
    if (name === "output") return takeOutput(line, space + 1, " ");
    if (name === "extended-output") return takeOutput(line, space + 1, " : ");
    const rest = space < 0 ? "" : line.toString("utf8", space + 1);
    if (name !== "begin") return events.notification(name, rest);
    const isOurs = rest.endsWith(" 1");
    replyBytes = 0;
    open = { header: rest, isOurs, lines: [], expected: isOurs ? events.bodyLines() : null };
  };

  const takeOutput = (line: Buffer, from: number, separator: string): void => {
    const paneEnd = line.indexOf(0x20, from);
    const dataStart = line.indexOf(separator, paneEnd);
    if (paneEnd < 0 || dataStart < 0) return;
    events.output(line.toString("latin1", from, paneEnd), unescapeOutput(line.subarray(dataStart + separator.length)));
  };

  return {
    push(chunk) {
      let start = 0;
      for (let end = chunk.indexOf(LINE_FEED); end >= 0; end = chunk.indexOf(LINE_FEED, start)) {
        const tail = chunk.subarray(start, end);
        start = end + 1;
        if (unfinished.length === 0) {
          takeLine(tail);
          continue;
        }
        const whole = Buffer.concat([...unfinished, tail]);
        unfinished = [];
        unfinishedBytes = 0;
        takeLine(whole);
      }
      if (start >= chunk.length) return;
      unfinished.push(chunk.subarray(start));
      unfinishedBytes += chunk.length - start;
      if (unfinishedBytes > MOST_LINE_BYTES) throw new Error("a line of tmux has no end");
    },
  };
}

/** tmux writes every byte below 0x20 and the backslash as three octal digits. */
export function unescapeOutput(data: Buffer): Buffer {
  const first = data.indexOf(BACKSLASH);
  if (first < 0) return Buffer.from(data);
  const bytes = Buffer.allocUnsafe(data.length);
  let length = data.copy(bytes, 0, 0, first);
  // Byte by byte: in what a full-screen program draws, every tenth is escaped.
  for (let at = first; at < data.length; length += 1) {
    const byte = data[at] ?? 0;
    bytes[length] = byte === BACKSLASH ? octal(data, at + 1) : byte;
    at += byte === BACKSLASH ? 4 : 1;
  }
  return bytes.subarray(0, length);
}

function octal(data: Buffer, at: number): number {
  return (((data[at] ?? 0) - 0x30) << 6) | (((data[at + 1] ?? 0) - 0x30) << 3) | ((data[at + 2] ?? 0) - 0x30);
}
