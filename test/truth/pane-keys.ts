/** A session's pane as a person at the terminal has it: through tmux, not through Reeve. */
import { existsSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import type { World } from "./world.ts";

export interface PaneKeys {
  /** Names of keys, as tmux has them. */
  press(...keys: readonly string[]): Promise<void>;
  type(text: string): Promise<void>;
  screen(): Promise<string>;
  /** `80x24`, as tmux tells it and takes it. */
  size(): Promise<string>;
  resize(size: string): Promise<void>;
  isThere(): Promise<boolean>;
}

export function paneKeys(world: World, sessionId: () => string): PaneKeys {
  async function find(): Promise<string | null> {
    // A socket that was deleted comes back with Reeve's next look; a person would attach again.
    for (let attempt = 0; attempt < 60 && !existsSync(world.home.tmuxSocket); attempt++) await sleep(100);
    const panes = await world.tmux("list-panes", "-a", "-F", "#{pane_id} #{session_name}");
    const line = panes.split("\n").find((one) => one.endsWith(` ${sessionId()}`));
    return line?.split(" ")[0] ?? null;
  }
  /** A pane that is gone takes no keys, and shows nothing: what comes of that is seen elsewhere. */
  const inPane = async (...args: readonly string[]): Promise<string> => {
    const pane = await find();
    return pane === null ? "" : world.tmux(args[0] ?? "", "-t", pane, ...args.slice(1));
  };
  return {
    press: async (...keys) => void (await inPane("send-keys", ...keys)),
    type: async (text) => void (await inPane("send-keys", "-l", text)),
    screen: () => inPane("capture-pane", "-p", "-J"),
    size: async () => (await inPane("display-message", "-p", "#{window_width}x#{window_height}")).trim(),
    async resize(size) {
      const [columns = "", rows = ""] = size.split("x");
      await inPane("resize-window", "-x", columns, "-y", rows);
    },
    isThere: async () => (await find()) !== null,
  };
}
