/**
 * Parses the lines of tmux's control mode. Works on bytes and keeps no more
 * than one unfinished line and one unfinished reply.
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

const LINE_FEED = 0x0a;
const PERCENT = 0x25;
const BACKSLASH = 0x5c;

export function createControlParser(events: ControlEvents): { push(chunk: Buffer): void } {
  let unfinished: Buffer[] = [];
  let open: OpenReply | null = null;

  const takeLine = (line: Buffer): void => {
    if (open === null) return outside(line);
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
        takeLine(whole);
      }
      if (start < chunk.length) unfinished.push(chunk.subarray(start));
    },
  };
}

/** tmux writes every byte below 0x20 and the backslash as three octal digits. */
export function unescapeOutput(data: Buffer): Buffer {
  let backslash = data.indexOf(BACKSLASH);
  const bytes = Buffer.allocUnsafe(data.length);
  let length = 0;
  let from = 0;
  for (; backslash >= 0; backslash = data.indexOf(BACKSLASH, from)) {
    length += data.copy(bytes, length, from, backslash);
    const value = Number.parseInt(data.toString("latin1", backslash + 1, backslash + 4), 8);
    bytes[length] = value;
    length += 1;
    from = backslash + 4;
  }
  length += data.copy(bytes, length, from);
  return bytes.subarray(0, length);
}
