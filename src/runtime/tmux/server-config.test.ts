import { describe, expect, it } from "vitest";
import { scopedArguments, serverConfig, serverEnvironment } from "../driver/server-config.ts";
import { chooseManager, lingerSentence, type SystemdFacts } from "./systemd.ts";
import { isAtLeast, parseVersion } from "../driver/tmux-version.ts";

describe("the server's environment", () => {
  it("holds next to nothing, and no mark", () => {
    const ours = { PATH: "/bin", HOME: "/h", LC_ALL: "C", REEVE_MARK: "x", SECRET: "y", TMUX: "z" };
    expect(serverEnvironment(ours)).toEqual({
      PATH: "/bin",
      HOME: "/h",
      LC_ALL: "C",
      TERM: "xterm-256color",
      SHELL: "/bin/sh",
    });
  });

  it("is kept from sessions by the configuration", () => {
    const config = serverConfig({ PATH: "/bin", LC_ALL: "C", TERM: "x" });
    for (const name of ["PATH", "LC_ALL", "PWD", "DBUS_SESSION_BUS_ADDRESS"])
      expect(config).toContain(`set-environment -gu ${name}\n`);
  });
});

describe("systemd", () => {
  const here: SystemdFacts = { isRunning: true, hasRunCommand: true, hasUserBus: true, isRoot: false, lingers: true };

  it("is asked for a scope where it runs", () => {
    expect(chooseManager(here)).toBe("user");
    expect(chooseManager({ ...here, isRoot: true, hasUserBus: false })).toBe("system");
    expect(chooseManager({ ...here, hasUserBus: false })).toBe("none");
    expect(chooseManager({ ...here, hasRunCommand: false })).toBe("none");
    expect(chooseManager({ ...here, isRunning: false })).toBe("none");
    const argv = ["tmux", "-S", "/s"];
    expect(scopedArguments("none", "u", argv)).toEqual(argv);
    const flags = ["--scope", "--quiet", "--collect", "--property=Delegate=yes", "--unit=u", "--", ...argv];
    expect(scopedArguments("user", "u", argv)).toEqual(["systemd-run", "--user", ...flags]);
    expect(scopedArguments("system", "u", argv)).toEqual(["systemd-run", ...flags]);
  });

  it("ends sessions at logout unless the person lingers", () => {
    expect(lingerSentence({ ...here, lingers: false })).toContain("loginctl enable-linger");
    expect(lingerSentence(here)).toBe(null);
    expect(lingerSentence({ ...here, lingers: false, isRoot: true })).toBe(null);
    expect(lingerSentence({ ...here, lingers: false, isRunning: false })).toBe(null);
  });
});

describe("tmux versions", () => {
  it.each([
    ["tmux 3.3a", true],
    ["tmux 3.2", true],
    ["tmux next-3.7", true],
    ["tmux openbsd-7.5", true],
    ["tmux 3.1c", false],
    ["tmux 2.9", false],
  ])("%s", (text, isEnough) => {
    const version = parseVersion(text);
    expect(version !== null && isAtLeast(version, { major: 3, minor: 2 })).toBe(isEnough);
  });
});
