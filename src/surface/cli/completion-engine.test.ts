import { describe, expect, it } from "vitest";
import { commands } from "./commands.ts";
import { completions, completionScript } from "./completion-engine.ts";

const offered = (...words: string[]): string[] =>
  completions(commands, ["builder", "watch"], words)
    .trim()
    .split("\n")
    .slice(0, -1)
    .map((line) => line.split("\t")[0] ?? "");

describe("completions", () => {
  it("offers commands, sessions, options and their values", () => {
    expect(offered("re")).toEqual(["resume", "restart"]);
    expect(offered("data", "")).toEqual(["builder", "watch"]);
    expect(offered("approve", "")).toEqual(["builder", "watch"]);
    expect(offered("send", "builder", "--st")).toEqual(["--steer"]);
    expect(offered("wait", "builder", "w")).toEqual(["watch"]);
    expect(offered("end", "--wh")).toEqual(["--when"]);
    expect(offered("end", "--when", "")).toEqual(["now", "after-turn"]);
    expect(offered("daemon", "st")).toEqual(["start", "stop", "status"]);
  });

  it("does not offer what is hidden", () => {
    expect(offered("comp")).toEqual(["completion"]);
  });
});

describe("completionScript", () => {
  it.each(["bash", "zsh", "fish"] as const)("for %s asks reeve complete", (shell) => {
    expect(completionScript(shell)).toContain("reeve complete --");
  });
});
