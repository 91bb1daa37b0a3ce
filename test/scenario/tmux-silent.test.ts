/** Sessions are ended and listed although the tmux server does not answer, and a start that is too large harms nobody. */
import { expect, test } from "vitest";
import { eventually } from "../support/eventually.ts";
import { inHome } from "../support/in-home.ts";
import { runProgram, type TestHome } from "../support/test-home.ts";
import { askDaemon } from "../support/ask-daemon.ts";

const SETTINGS = "[sessions]\nhealth_interval_seconds = 0.3\norphan_grace_seconds = 0\nsweep_interval_seconds = 0.3\n";

async function startAll(home: TestHome, names: readonly string[]): Promise<void> {
  for (const name of names) await home.json("start", "command", "--name", name, "--", "sleep", "600");
  await eventually("all run", async () => (await home.list()).every((session) => session.state === "running"));
}

test.concurrent("a tmux server that hangs keeps nobody from ending sessions, and from seeing that they ended", () =>
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

test.concurrent("a start that no program can be given is refused, is not listed, and says what is too large", () =>
  inHome("", async (home) => {
    await startAll(home, ["one"]);
    const start = (more: object) =>
      askDaemon<{ code: string; detail: string }>(home, "/v1/sessions", {
        agent: "command",
        args: ["sleep", "600"],
        cwd: "/",
        environment: { PATH: "/usr/bin:/bin" },
        ...more,
      });
    const variables = Object.fromEntries(Array.from({ length: 100_000 }, (_, index) => [`V${index}`, "x"]));
    for (const [more, what] of [
      [{ environment: { PATH: "/usr/bin:/bin", ...variables } }, "Its environment has 100,00"],
      [{ env: { BIG: "x".repeat(200_000) } }, "The variable BIG is 200,004 bytes long"],
      [
        { args: ["echo", ...Array.from({ length: 900 }, () => "x".repeat(5_000))] },
        "Its arguments and environment have 4,5",
      ],
      [{ args: ["echo", "x".repeat(140_000)] }, "Argument 1 of its command is 140,000 bytes long"],
    ] as const) {
      const refused = await start(more);
      expect(refused).toMatchObject({ code: "start-too-large" });
      expect(refused?.detail).toContain(what);
    }
    expect((await home.list()).map(({ name }) => name)).toEqual(["one"]);
  }));
