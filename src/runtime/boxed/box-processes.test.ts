import { describe, expect, it } from "vitest";
import { parseRows, sortProcesses } from "./box-processes.ts";

const stat = (pid: number, name: string, ppid: number, state = "S"): string =>
  `${pid} (${name}) ${state} ${ppid} ${pid} ${pid} 0 -1 4194304 0 0 0 0 1 2 3 4 20 0 1 0 ${pid * 100} 0 0`;
const fixtures = { serverPid: 7, clientPid: 6, anchorPid: 8, wrapperPid: 9, carrierPid: null };

describe("the processes of a box", () => {
  it("are all but Reeve's own, and what was let in from outside", () => {
    const text = [
      stat(1, "docker-init", 0),
      stat(6, "tmux: client", 7), // the one that the box began with
      stat(7, "tmux: server", 1),
      stat(8, "sh", 7),
      stat(9, "sh", 7),
      stat(10, "agent", 9),
      stat(11, "tool", 1), // left its parent
      stat(12, "gone", 9, "Z"),
      stat(20, "sh", 0), // this look itself
      stat(21, "ls", 20),
    ].join("\n");
    const { members, wrapper } = sortProcesses(parseRows(text), fixtures);
    expect(members.map(({ pid }) => pid)).toEqual([10, 11]);
    expect(wrapper?.pid).toBe(9);
  });

  it("are not what carries its passage, and whatever else is under the tmux server", () => {
    const text = [
      stat(1, "docker-init", 0),
      stat(6, "sh", 7),
      stat(7, "tmux: server", 1),
      stat(8, "sh", 7),
      stat(9, "sh", 7),
      stat(10, "socat", 6),
      stat(11, "socat", 10),
      stat(12, "hidden", 7),
    ].join("\n");
    const members = (carrierPid: number): readonly number[] =>
      sortProcesses(parseRows(text), { ...fixtures, clientPid: 5, carrierPid }).members.map(({ pid }) => pid);
    expect(members(6)).toEqual([12]);
    // Another process that has its number by now.
    expect(members(11)).toEqual([6, 10, 11, 12]);
  });

  it("count with a name that cuts their row short", () => {
    const evil = stat(10, ") S 0\n%end", 9);
    const { members } = sortProcesses(parseRows(`${stat(1, "init", 0)}\n${evil}`), fixtures);
    expect(members.map(({ pid }) => pid)).toEqual([10]);
  });
});
