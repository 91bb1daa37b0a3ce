/** Faults, as they strike while an episode runs. Whatever was stopped goes on again in the end. */
import { unlinkSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import type { Fault } from "./case.ts";
import { daemonOf, isThere, signal } from "./kernel.ts";
import type { NamedProcess } from "./kernel.ts";
import { listProcesses } from "../../src/platform/process-table.ts";
import type { Lane } from "./lane.ts";
import type { World } from "./world.ts";

/** Strikes each at its time; resolves when all have and what was stopped runs again. */
export async function strike(lane: Lane, faults: readonly Fault[]): Promise<void> {
  await Promise.all(
    faults.map(async (fault) => {
      await sleep(fault.atMs);
      await strikeOne(lane, fault);
    }),
  );
}

async function strikeOne(lane: Lane, { name, argument }: Fault): Promise<void> {
  const { world } = lane;
  const ms = Number(argument ?? 0);
  switch (name) {
    case "kill-daemon":
      world.killDaemon();
      return;
    case "failpoint":
      return world.armFailpoint(argument ?? "");
    case "stop-daemon": {
      const daemon = daemonOf(world.home);
      return stopFor(world, daemon === null ? [] : [daemon], ms, "daemon stopped");
    }
    case "stop-agent":
      return stopFor(world, processesOf(lane), ms, "agent stopped");
    case "stop-tmux": {
      const server = await serverOf(world);
      return stopFor(world, server === null ? [] : [server], ms, "tmux stopped");
    }
    case "delete-socket":
      try {
        unlinkSync(world.home.tmuxSocket);
      } catch {
        // it is not there yet
      }
  }
}

export function processesOf(lane: Lane): readonly NamedProcess[] {
  if (lane.sessionId() === "") return [];
  const rows = new Map(listProcesses().map((row) => [row.pid, row]));
  return lane.world.home.marked(lane.sessionId()).flatMap(({ pid }) => rows.get(pid) ?? []);
}

export async function serverOf(world: World): Promise<NamedProcess | null> {
  const pid = Number(await world.tmux("display-message", "-p", "#{pid}"));
  return listProcesses().find((row) => row.pid === pid) ?? null;
}

async function stopFor(world: World, processes: readonly NamedProcess[], ms: number, what: string): Promise<void> {
  const goOn = world.disturb(what);
  for (const one of processes) signal(one, "SIGSTOP");
  await sleep(ms);
  for (const one of processes) if (isThere(one)) signal(one, "SIGCONT");
  goOn();
}
