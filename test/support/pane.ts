/** A session's pane as a person at its terminal has it: keys are pressed in it, and its screen is read. */
import type { Result, TestHome } from "./test-home.ts";
import { runProgram } from "./test-home.ts";

/** Each of `keys` is a tmux key name or literal text. */
export async function pressInPane(home: TestHome, sessionId: string, ...keys: readonly string[]): Promise<void> {
  const { status, stderr } = await tmux(home, "send-keys", "-t", await paneOf(home, sessionId), ...keys);
  if (status !== 0) throw new Error(`tmux send-keys: ${stderr}`);
}

export async function screenOf(home: TestHome, sessionId: string): Promise<string> {
  return (await tmux(home, "capture-pane", "-p", "-t", await paneOf(home, sessionId))).stdout;
}

async function paneOf(home: TestHome, sessionId: string): Promise<string> {
  const { stdout } = await tmux(home, "list-panes", "-a", "-F", "#{pane_id} #{session_name}");
  const pane = stdout.split("\n").find((line) => line.endsWith(` ${sessionId}`));
  if (pane === undefined) throw new Error(`no pane of ${sessionId} in: ${stdout}`);
  return pane.split(" ")[0] ?? "";
}

const tmux = (home: TestHome, ...args: readonly string[]): Promise<Result> =>
  runProgram("tmux", ["-S", home.tmuxSocket, ...args], home.environment);
