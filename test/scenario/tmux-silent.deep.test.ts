/** Sessions are ended and listed although the tmux server does not answer. */
import { expect, test } from "vitest";
import { eventually } from "../support/eventually.ts";
import { inHome } from "../support/in-home.ts";
import { runProgram, type TestHome } from "../support/test-home.ts";

const SETTINGS = "[sessions]\nhealth_interval_seconds = 0.3\norphan_grace_seconds = 0\nsweep_interval_seconds = 0.3\n";

async function startAll(home: TestHome, names: readonly string[]): Promise<void> {
  for (const name of names) await home.json("start", "command", "--name", name, "--", "sleep", "600");
  await eventually("all run", async () => (await home.list()).every((session) => session.state === "running"));
}

test("a tmux server that hangs keeps nobody from ending sessions, and from seeing that they ended", () =>
  inHome(SETTINGS, async (home) => {
    await startAll(home, ["one", "two", "three"]);
    const tmux = (...args: readonly string[]) => runProgram("tmux", ["-S", home.tmuxSocket, ...args], home.environment);
    const server = Number((await tmux("display-message", "-p", "#{pid}")).stdout);
    process.kill(server, "SIGSTOP");
    try {
      const { session_id } = await home.session("three");
      for (const { pid } of home.marked(session_id)) process.kill(pid, "SIGKILL");
      await eventually("its death is told", async () => (await home.session("three")).state === "error");
      expect(await home.session("three")).toMatchObject({ exit: { signal: "SIGKILL" } });
      expect((await home.run(["end", "--all", "--when", "now", "--grace", "0.2"])).status).toBe(0);
      expect(home.marked()).toEqual([]);
      expect((await home.json<{ sessions: { state: string }[] }>("list", "--all")).sessions).toMatchObject(
        Array.from({ length: 3 }, () => ({ state: "stopped" })),
      );
    } finally {
      process.kill(server, "SIGCONT");
    }
    await eventually("their terminals are gone", async () =>
      ["reeve-anchor", ""].includes((await tmux("list-sessions", "-F", "#{session_name}")).stdout.trim()),
    );
  }));
