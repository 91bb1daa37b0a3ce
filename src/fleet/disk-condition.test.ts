import { describe, expect, test } from "vitest";
import { diskCondition } from "./disk-condition.ts";

const GB = 1024 ** 3;
const room = (bytes: number, totalBytes = 500 * GB, isFull = false) => ({ device: 1, bytes, totalBytes, isFull });

describe("a disk that fills up", () => {
  test("is told below a gigabyte, or a twentieth of a small one", () => {
    expect(diskCondition("/data", room(GB), null, 7)).toBeNull();
    expect(diskCondition("/data", room(GB - 1), null, 7)).toMatchObject({
      kind: "disk",
      urgency: "other",
      sinceAt: 7,
      title: "The disk that holds /data is filling up: 1023 MB left",
    });
    expect(diskCondition("/data", room(GB / 4, 4 * GB), null, 7)).toBeNull();
    expect(diskCondition("/data", room(GB / 8, 4 * GB), null, 7)).not.toBeNull();
  });

  test("is blocked when it is full, under the same id, and over only when there is clearly more room", () => {
    const before = diskCondition("/data", room(GB - 1), null, 7);
    const full = diskCondition("/data", room(100_000, 500 * GB, true), before, 9);
    expect(full).toMatchObject({ id: before?.id, urgency: "blocked", sinceAt: 7 });
    expect(diskCondition("/data", room(1.2 * GB), before, 9)).not.toBeNull();
    expect(diskCondition("/data", room(1.6 * GB), before, 9)).toBeNull();
  });

  test("without bytes, room for files can run out", () => {
    expect(diskCondition("/data", room(100 * GB, 500 * GB, true), null, 7)).toMatchObject({ urgency: "blocked" });
  });
});
