import { expect, test } from "vitest";
import { describePlace, readPlace } from "./pane-place.ts";

test("a place as records of every version so far have it is read, and described for people", () => {
  const place = { id: "%3", pid: 4242, startTicks: "99" };
  expect(readPlace(place)).toEqual(place);
  expect(describePlace(place)).toEqual({ text: "process 4242", id: "%3", pid: 4242 });
});

test.each([
  null,
  {},
  { pod: "reeve-7f" },
  { id: "%3", pid: "4242", startTicks: "99" },
  { id: "%3", pid: -1, startTicks: "99" },
  { id: "%3", pid: 1.5, startTicks: "99" },
  { id: 3, pid: 4242, startTicks: "99" },
])("what another runtime made, or somebody forged, names no process: %j", (place) => {
  expect(readPlace(place)).toBe(null);
});

test("one that cannot be read is still described", () => {
  expect(describePlace({ pod: "reeve-7f" })).toMatchObject({ id: null, pid: null });
});
