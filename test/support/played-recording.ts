/** What a recording shows, by Debian's asciinema: its bytes, and the screen of a terminal in which it was played. */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { eventually } from "./eventually.ts";
import type { TestHome } from "./test-home.ts";
import { runProgram } from "./test-home.ts";

export type CastLine = readonly [seconds: number, code: string, data: string];

/** Every line must be JSON; while somebody writes, the last one may not be whole yet. */
export function castOf(path: string): {
  readonly header: Record<string, unknown>;
  readonly events: readonly CastLine[];
} {
  const [header = {}, ...events] = readFileSync(path, "utf8")
    .split("\n")
    .slice(0, -1)
    .map((line) => JSON.parse(line) as unknown);
  return { header: header as Record<string, unknown>, events: events as CastLine[] };
}

/** It wants a terminal, though it reads nothing from it. */
export async function catRecording(home: TestHome, path: string): Promise<string> {
  const line = `asciinema cat '${path}' > '${path}.out'`;
  const { status, stdout, stderr } = await runProgram("script", ["-qec", line, "/dev/null"], home.environment);
  if (status !== 0) throw new Error(`asciinema cat: ${stdout}${stderr}`);
  return readFileSync(`${path}.out`, "utf8");
}

let count = 0;

/** Plays it fast, in a tmux server of its own, and reads that screen. */
export async function playRecording(
  home: TestHome,
  path: string,
  size: { readonly columns: number; readonly rows: number },
): Promise<string> {
  const name = join(home.dir, `player-${++count}`);
  writeFileSync(`${name}.conf`, "set -g status off\n");
  const tmux = (...args: readonly string[]) => runProgram("tmux", ["-S", `${name}.sock`, ...args], home.environment);
  const line = `asciinema play -i 0.01 -s 1000 '${path}' 2>'${name}.err' && touch '${name}.played'; exec sleep 600`;
  const at = ["-x", `${size.columns}`, "-y", `${size.rows}`];
  await tmux("-f", `${name}.conf`, "new-session", "-d", ...at, line);
  try {
    await eventually("it was played", () => existsSync(`${name}.played`));
    return (await tmux("capture-pane", "-p", "-e")).stdout;
  } finally {
    await tmux("kill-server");
  }
}
