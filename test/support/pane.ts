/** Keys pressed in a session's pane, as a person at its terminal would. */
import type { TestHome } from "./test-home.ts";
import { runProgram } from "./test-home.ts";

/** Each of `keys` is a tmux key name or literal text. */
export async function pressInPane(home: TestHome, sessionId: string, ...keys: readonly string[]): Promise<void> {
  const tmux = (...args: readonly string[]) => runProgram("tmux", ["-S", home.tmuxSocket, ...args], home.environment);
  const { stdout } = await tmux("list-panes", "-a", "-F", "#{pane_id} #{session_name}");
  const pane = stdout.split("\n").find((line) => line.endsWith(` ${sessionId}`));
  if (pane === undefined) throw new Error(`no pane of ${sessionId} in: ${stdout}`);
  const { status, stderr } = await tmux("send-keys", "-t", pane.split(" ")[0] ?? "", ...keys);
  if (status !== 0) throw new Error(`tmux send-keys: ${stderr}`);
}
