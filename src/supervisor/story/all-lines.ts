/** A file of lines from its beginning to its end, a part at a time. */
import type { LineCursor, NewLines } from "../../platform/line-cursor.ts";

export async function* allLines(
  read: (cursor: LineCursor | null) => Promise<NewLines>,
): AsyncGenerator<NewLines, void, void> {
  for (let cursor: LineCursor | null = null; ;) {
    const found: NewLines = await read(cursor);
    yield found;
    if (!found.hasMore) return;
    cursor = found.cursor;
  }
}
