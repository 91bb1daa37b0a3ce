import { spawn } from "node:child_process";
import { once } from "node:events";
import { afterEach, expect, test } from "vitest";
import { eventually } from "../../../test/support/eventually.ts";
import { readProcess } from "../../platform/process-table.ts";
import { parsePanes } from "../driver/pane.ts";
import { endedWithoutTmux, observePane } from "./pane-sight.ts";

/** Leaders of groups: what they started ends with them. */
const parents: ReturnType<typeof spawn>[] = [];
afterEach(() => {
  for (const { pid } of parents.splice(0)) if (pid !== undefined) process.kill(-pid, "SIGKILL");
});

/** The shell that starts it would ask; the program that it becomes does not. */
const UNHEARD = "until grep -q sleep /proc/$PPID/comm; do sleep 0.01; done";

/** A process that runs this; its parent never asks how it ended, like a tmux server that hangs. */
async function started(script: string) {
  const parent = spawn("/bin/sh", ["-c", `sh -c '${UNHEARD}; ${script}' & echo $!; exec sleep 100`], {
    stdio: ["ignore", "pipe", "ignore"],
    detached: true,
  });
  parents.push(parent);
  const [printed] = (await once(parent.stdout, "data")) as [Buffer];
  const pid = Number(printed.toString());
  return { id: "%3", pid, startTicks: readProcess(pid)?.startTicks ?? "" };
}

test.each([
  ["exit 7", { code: 7, signal: null }],
  ["exit 143", { code: 143, signal: "SIGTERM" }],
  ["kill -KILL $$", { code: null, signal: "SIGKILL" }],
])("how a process ended is known before its parent asked: %s", async (script, exit) => {
  const place = await started(script);
  const seen = await eventually("it has ended", () => endedWithoutTmux(place));
  expect(seen).toMatchObject({ status: "exited", ...exit });
});

test("one that lives has not ended, and of one that is gone without a trace nothing more is known", async () => {
  const place = await started("exec sleep 100");
  expect(endedWithoutTmux(place)).toBe(null);
  expect(endedWithoutTmux({ ...place, startTicks: "17" })).toMatchObject({
    status: "exited",
    code: null,
    signal: null,
  });
  expect(endedWithoutTmux({ ...place, pid: 4_194_305 })).toMatchObject({ status: "exited", code: null, signal: null });
});

test("nothing follows where it is not known which process it was", () => {
  expect(endedWithoutTmux(null)).toBe(null);
  expect(endedWithoutTmux({ id: "%3", pid: 4_194_305, startTicks: "0" })).toBe(null);
});

test("one that tmux calls alive is looked at each time, also when its start is known", async () => {
  const { pid, startTicks } = await started("exec sleep 100");
  const look = (known: string) =>
    parsePanes([`pane %3 $1 @2 ${pid}   0 0 /dev/pts/4 i.one.2 0`]).map((pane) => observePane(pane, known))[0];
  expect(look("")).toMatchObject({ status: "running", place: { id: "%3", pid, startTicks } });
  expect(look(startTicks)).toEqual(look(""));
  process.kill(pid, "SIGKILL");
  await eventually("it has ended, and its parent has not asked", () => look("") === null);
  expect(look(startTicks)).toBe(null);
});
