/** Whether a disk that Reeve writes to fills up. A filling disk is one thing that becomes worse, so it is one item. */
import type { Room } from "../platform/disk-room.ts";
import { type Condition, itemIdOf } from "./inbox.ts";
import { diskWords } from "./inbox-text.ts";

/** Enough for a day of transcripts and logs; on a small disk, a twentieth of it. */
const LOW_BYTES = 1024 ** 3;
const LOW_PART = 0.05;
/** Room for so much more closes the item, so that it does not come and go with every file. */
const CLEARANCE = 1.5;

/** `before`: the condition was there when the disk was last looked at. */
export function diskCondition(directory: string, room: Room, before: Condition | null, at: number): Condition | null {
  const low = Math.min(LOW_BYTES, room.totalBytes * LOW_PART) * (before === null ? 1 : CLEARANCE);
  if (room.bytes >= low && !room.isFull) return null;
  return {
    id: itemIdOf(null, "disk", directory),
    sessionId: null,
    kind: "disk",
    urgency: room.isFull ? "blocked" : "other",
    ...diskWords(directory, inWords(room.bytes), room.isFull),
    answers: ["acknowledge", "snooze"],
    approvalId: null,
    newsRevision: 0,
    sinceAt: before?.sinceAt ?? at,
  };
}

function inWords(bytes: number): string {
  const megabytes = bytes / 1024 ** 2;
  if (megabytes >= 1024) return `${(megabytes / 1024).toFixed(1)} GB`;
  return megabytes >= 1 ? `${Math.floor(megabytes)} MB` : `${Math.floor(bytes / 1024)} KB`;
}
