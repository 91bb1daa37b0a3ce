/** People who are attached are told something; the text is an agent's. */
import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { shellQuote } from "../../src/platform/shell-quote.ts";
import { eventually } from "../support/eventually.ts";
import { first, useGround } from "./runtime-ground.ts";
import { makeTmuxFixture } from "./tmux-fixture.ts";

describe("telling whoever is attached", () => {
  const ground = useGround(() => makeTmuxFixture());
  let isOpen = false;
  /** A terminal of a person's own, in a tmux of its own. */
  const person = (...args: readonly string[]): string =>
    execFileSync("tmux", ["-S", join(ground.fixture.runDir, "person.sock"), "-f", "/dev/null", ...args], {
      encoding: "utf8",
      env: { ...process.env, TMUX: "", LANG: "C.UTF-8", TERM: "xterm-256color" },
    });
  afterEach(() => {
    if (isOpen) person("kill-server");
    isOpen = false;
  });

  async function attach(): Promise<void> {
    const { argv } = await ground.runtime.attachCommand(first, {});
    const line = `env -u TMUX ${argv.map(shellQuote).join(" ")}`;
    isOpen = true;
    person("new-session", "-d", "-x", "190", "-y", "20", line);
    await eventually("the session is shown", () => person("capture-pane", "-p").includes("hello"));
  }

  it("nobody is attached, or no server runs: nobody is told, and nothing is started", async () => {
    expect(await ground.runtime.notify?.({ text: "hello" })).toBe(0);
    expect(existsSync(join(ground.fixture.runDir, "tmux.sock"))).toBe(false);
    await ground.runtime.create(ground.shell(first, "sleep 100"));
    expect(await ground.runtime.notify?.({ bell: true })).toBe(0);
  });

  it("a line at the bottom, in which nothing is expanded or run", async () => {
    await ground.runtime.create(ground.shell(first, "echo hello; sleep 100"));
    await attach();
    const touched = join(ground.fixture.runDir, "touched");
    const text = `#(touch ${touched}) #{pid} #x %H $HOME ~ "q" 'r' ; kill-server \\ #[fg=red]é`;
    expect(await ground.runtime.notify?.({ text: `${text}\nnext line` })).toBe(1);
    const shown = `${text.replace("#[", "# [")} next line`;
    const bottom = (): string => person("capture-pane", "-p").trimEnd().split("\n").at(-1) ?? "";
    expect(await eventually("it is shown", () => bottom().includes("next line") && bottom())).toBe(shown);
    expect(existsSync(touched)).toBe(false);
    // A key takes it away, and still reaches the session.
    person("send-keys", "x");
    await eventually("it is gone", () => !person("capture-pane", "-p").includes("next line"));
    await eventually("the key arrived", () => person("capture-pane", "-p").includes("hello\nx"));
  });

  it("the bell rings", async () => {
    await ground.runtime.create(ground.shell(first, "echo hello; sleep 100"));
    await attach();
    const rang = (): string => person("list-windows", "-F", "#{window_bell_flag}").trim();
    expect(rang()).toBe("0");
    expect(await ground.runtime.notify?.({ bell: true })).toBe(1);
    await eventually("it rang", () => rang() === "1");
  });
});
