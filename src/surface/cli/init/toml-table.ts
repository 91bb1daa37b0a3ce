/**
 * Takes a table and the tables below it out of a TOML text and leaves every
 * other line as it is, comments included. It knows tables with a heading of their
 * own, as agents write them; the caller checks that what is left is right. Pure.
 */
const HEADING = /^[ \t]*\[/;
const COMMENT = /^[ \t]*#/;
const BLANK = /^[ \t\r\n]*$/;

export function withoutTable(text: string, path: readonly string[]): string {
  const name = path.map((key) => `(?:${key}|"${key}"|'${key}')`).join(String.raw`[ \t]*\.[ \t]*`);
  const own = new RegExp(String.raw`^[ \t]*\[[ \t]*${name}[ \t]*(?:\.[^\n]*)?\]`);
  const kept: string[] = [];
  /** Behind its last line: comments and empty lines, which belong to what comes next, or to nobody. */
  let between: string[] = [];
  let isOwn = false;
  const leave = (isEnd: boolean): void => {
    const [first] = between;
    // The empty line that sets the table apart from what stands before it.
    const isApart = kept.length > 1 && BLANK.test(kept.at(-1) ?? "");
    if (isApart && (first === undefined ? isEnd : BLANK.test(first))) kept.pop();
    kept.push(...between);
    between = [];
  };
  for (const line of text.split(/(?<=\n)/)) {
    const wasOwn = isOwn;
    if (HEADING.test(line)) isOwn = own.test(line);
    if (wasOwn && !isOwn) leave(false);
    if (!isOwn) kept.push(line);
    else if (COMMENT.test(line) || BLANK.test(line)) between.push(line);
    else between = between.filter((one) => COMMENT.test(one));
  }
  if (isOwn) leave(true);
  return kept.join("");
}
