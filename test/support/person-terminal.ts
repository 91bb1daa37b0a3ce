/** A terminal with a person's keyboard and screen: a tmux server of its own, beside Reeve's, in the test's home. */
import { join } from "node:path";
import type { TestHome } from "./test-home.ts";
import { runProgram } from "./test-home.ts";

export interface PersonTerminal {
  screen(): Promise<string>;
  /** Keys by tmux's names, one after the other. */
  press(...keys: readonly string[]): Promise<void>;
  /** At once, as a slow line or a busy machine passes them on. */
  pressTogether(...keys: readonly string[]): Promise<void>;
  close(): Promise<void>;
}

let count = 0;

/** Runs the shell line in it; `size` is columns × rows. */
export async function openTerminal(
  home: TestHome,
  line: string,
  size: { readonly columns: number; readonly rows: number } = { columns: 100, rows: 30 },
): Promise<PersonTerminal> {
  const socket = join(home.dir, `person-${++count}.sock`);
  const tmux = (...args: readonly string[]) => runProgram("tmux", ["-S", socket, ...args], home.environment);
  // The shell outlives a Ctrl-C, as the one of a person does.
  const shell = `trap : INT; ${line}; echo "left with $?"; exec sleep 600`;
  const at = ["-x", `${size.columns}`, "-y", `${size.rows}`];
  await tmux("-f", "/dev/null", "new-session", "-d", ...at, `env -u TMUX sh -c '${shell.replaceAll("'", "'\\''")}'`);
  return {
    screen: async () => (await tmux("capture-pane", "-p")).stdout,
    async press(...keys) {
      for (const key of keys) await tmux("send-keys", key);
    },
    async pressTogether(...keys) {
      await tmux("send-keys", ...keys);
    },
    async close() {
      await tmux("kill-server");
    },
  };
}
