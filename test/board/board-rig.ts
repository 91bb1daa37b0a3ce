/**
 * The board in a real tmux: a terminal of a given size in which `reeve` runs,
 * keys that are pressed there, and what can be seen on it.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import { childrenOf } from "../../src/platform/process-table.ts";
import { drawnLines } from "../../src/surface/board/drawn-text.ts";
import { eventually } from "../support/eventually.ts";
import type { Result, TestHome } from "../support/test-home.ts";
import { runProgram } from "../support/test-home.ts";

const REEVE = join(import.meta.dirname, "..", "..", "bin", "reeve");
const GOLDEN = join(import.meta.dirname, "golden");

export interface BoardRig {
  /** What is on the screen, without trailing blanks. */
  screen(): Promise<string>;
  /** The same with its colours, as SGR sequences: each piece with its own, however tmux came to show it. */
  coloured(): Promise<string>;
  /** Names of keys, one after the other. */
  press(...keys: readonly string[]): Promise<void>;
  type(text: string): Promise<void>;
  resize(columns: number, rows: number): Promise<void>;
  /** The screen, once it holds this. */
  shows(what: string | RegExp): Promise<string>;
  /** The line of the list that begins with this name. */
  row(name: string, what: string | RegExp): Promise<string>;
  /** From now on, all that is written to the terminal is also in this file. */
  record(file: string): Promise<void>;
  /** Its process. */
  pid(): Promise<number>;
  close(): Promise<void>;
}

export interface RigOptions {
  readonly columns: number;
  readonly rows: number;
  readonly variables?: Readonly<Record<string, string>>;
  /** In a shell that sees it stopped, and continues it at Enter. */
  readonly hasJobControl?: boolean;
}

let count = 0;

export async function openBoard(home: Pick<TestHome, "dir" | "environment">, options: RigOptions): Promise<BoardRig> {
  const { columns, rows, variables = {}, hasJobControl = false } = options;
  const socket = join(home.dir, `board-${(count += 1)}.sock`);
  const tmux = (...args: readonly string[]): Promise<Result> =>
    runProgram("tmux", ["-S", socket, ...args], home.environment);
  const set = Object.entries({ ...home.environment, ...variables }).map(([name, value]) => `'${name}=${value}'`);
  const told = (what: string): string => `echo "${what} with $? $(stty -a | grep -oe "-*icanon")"`;
  const reeve = `env -u TMUX ${set.join(" ")} '${REEVE}'`;
  const stoppable = `set -m; ${reeve}; ${told("stopped")}; read -r _; fg`;
  const program = `${hasJobControl ? stoppable : reeve}; ${told("left")}; exec sleep 600`;
  const size = ["-x", String(columns), "-y", String(rows)];
  const { status, stderr } = await tmux("-f", "/dev/null", "new-session", "-d", ...size, program);
  if (status !== 0) throw new Error(`tmux: ${stderr}`);
  await tmux("set-option", "-g", "status", "off");
  await tmux("set-option", "-g", "window-size", "manual");
  await tmux("resize-window", ...size);
  const capture = async (...how: readonly string[]): Promise<string> =>
    (await tmux("capture-pane", "-p", ...how)).stdout.trimEnd();
  const rig: BoardRig = {
    screen: () => capture(),
    coloured: async () => styled(await capture("-e")),
    async press(...keys) {
      for (const key of keys) await tmux("send-keys", key);
    },
    async type(text) {
      await tmux("send-keys", "-l", text);
    },
    async resize(wide, high) {
      await tmux("resize-window", "-x", String(wide), "-y", String(high));
    },
    async shows(what) {
      let last = "";
      const look = async (): Promise<string | false> => {
        last = await capture();
        return (typeof what === "string" ? last.includes(what) : what.test(last)) && last;
      };
      return await eventually(`the board shows ${String(what)}`, look, 20_000).catch((error: unknown) => {
        throw new Error(`${String(error)}; it shows:\n${last}`);
      });
    },
    async row(name, what) {
      const found = new RegExp(`^[> ] ${name} .*${typeof what === "string" ? what : what.source}`, "m");
      return found.exec(await rig.shows(found))?.[0] ?? "";
    },
    async record(file) {
      writeFileSync(file, "");
      await tmux("pipe-pane", `exec cat >> '${file}'`);
    },
    async pid() {
      const { stdout } = await tmux("display-message", "-p", "#{pane_pid}");
      return childrenOf(Number(stdout))[0] ?? Number.NaN;
    },
    async close() {
      await tmux("kill-server");
    },
  };
  return rig;
}

function styled(captured: string): string {
  const lines = drawnLines(captured, true).map((line) =>
    line.map(({ text, style }) => (style === undefined ? text : `\u001B[${style}m${text}\u001B[0m`)).join(""),
  );
  return lines.join("\n");
}

/** What differs from run to run is written as what it is. */
export function masked(screen: string): string {
  return screen
    .replaceAll(/[0-9a-f]{8}-[0-9a-f-]{8,27}/g, (id) => "x".repeat(id.length))
    .replaceAll(/(?<= |m)[ 0-9][0-9](?:s|m)(?= |\u001b|$)/gm, "###")
    .split("\n")
    .map((line) => line.trimEnd())
    .join("\n");
}

/** Compares with the file, which has to be there; `GOLDEN=write vitest run test/board` makes it. */
export function expectGolden(name: string, screen: string): void {
  const file = join(GOLDEN, `${name}.txt`);
  if (process.env["GOLDEN"] === "write") writeFileSync(file, `${screen}\n`);
  expect(`${screen}\n`).toBe(readFileSync(file, "utf8"));
}

/** The same, of a screen on which something may still be missing: it is looked at until it is as in the file. */
export async function showsGolden(name: string, read: () => Promise<string>): Promise<void> {
  const isWritten = process.env["GOLDEN"] === "write";
  const golden = isWritten ? null : readFileSync(join(GOLDEN, `${name}.txt`), "utf8");
  const seen: string[] = [];
  const isSettled = async (): Promise<boolean> => {
    seen.push(await read());
    return golden === null ? new Set(seen.slice(-100)).size === 1 && seen.length > 100 : `${seen.at(-1)}\n` === golden;
  };
  await eventually(name, isSettled, 20_000).catch(() => undefined);
  expectGolden(name, seen.at(-1) ?? "");
}
