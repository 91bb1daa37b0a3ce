import { spawn } from "node:child_process";
import { once } from "node:events";
import { describe, expect, it } from "vitest";
import {
  isAlive,
  listProcesses,
  ownerOf,
  parseStat,
  readCommandLine,
  readEnvironment,
  readEnvironmentVariable,
  readProcess,
  sendSignal,
} from "./process-table.ts";

describe("process table", () => {
  it("reads a stat line whose command holds spaces and parentheses", () => {
    const stat = "42 (a) b) (c) S 7 40 41 34816 39 4194560 1 2 3 4 5 6 7 8 20 0 1 0 987654 1000 100";
    expect(parseStat(stat)).toEqual({
      pid: 42,
      ppid: 7,
      group: 40,
      foregroundGroup: 39,
      session: 41,
      state: "S",
      startTicks: "987654",
      cpuMs: 110,
      endedCpuMs: 150,
    });
    expect(parseStat("nonsense")).toBe(null);
  });

  it("sees this process", () => {
    const row = readProcess(process.pid);
    expect(row).toMatchObject({ pid: process.pid, ppid: process.ppid });
    expect(listProcesses().some(({ pid }) => pid === process.pid)).toBe(true);
    expect(ownerOf(process.pid)).toBe(process.getuid?.());
    expect(readProcess(2 ** 22 + 1)).toBe(null);
  });

  it("reads a child's environment and command line, and signals only the process it means", async () => {
    const child = spawn("sleep", ["100"], { env: { NOTMARK: "1", MARK: "a=b c", PATH: process.env["PATH"] ?? "" } });
    await once(child, "spawn");
    const pid = child.pid ?? 0;
    const startTicks = readProcess(pid)?.startTicks ?? "";
    expect(readEnvironmentVariable(pid, "MARK")).toBe("a=b c");
    expect(readEnvironmentVariable(pid, "ARK")).toBe(null);
    expect(readEnvironment(pid)).toMatchObject({ MARK: "a=b c", NOTMARK: "1" });
    expect(readCommandLine(pid)).toBe("sleep 100");
    expect(sendSignal(pid, `${startTicks}9`, "SIGKILL")).toBe(false);
    expect(isAlive(pid, startTicks)).toBe(true);
    expect(sendSignal(pid, startTicks, "SIGKILL")).toBe(true);
    await once(child, "exit");
    expect(isAlive(pid, startTicks)).toBe(false);
    expect(sendSignal(process.pid, readProcess(process.pid)?.startTicks ?? "", "SIGTERM")).toBe(false);
    expect(sendSignal(1, readProcess(1)?.startTicks ?? "", "SIGTERM")).toBe(false);
  });
});
