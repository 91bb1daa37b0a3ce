import { describe, expect, it } from "vitest";
import { chosenContainer, refuseContainer } from "./chosen-container.ts";
import { containerEnvironment } from "./container-environment.ts";
import { parseSettings } from "./settings.ts";

const settings = parseSettings(`[docker]
image = "usual"
memory = "4g"
cpus = 2
workspaces = ["/src"]
[role.builder]
runtime = "docker"
image = "builder"
memory = "1g"
pids = 100
network = "proxy"
mounts = ["/srv/cache:/cache:ro"]
`);
const where = { settings, cwd: "/src/project", kept: ["/home/me/.reeve/run", "/src/reeve/outputs"] };

describe("the container of a start", () => {
  it("is what it says, else what its role says, else what the settings say", () => {
    expect(chosenContainer({}, where)).toEqual({
      image: "usual",
      memoryBytes: 4 * 2 ** 30,
      cpus: 2,
      pids: null,
      network: "none",
      mounts: [],
    });
    expect(chosenContainer({ role: "builder" }, where)).toEqual({
      image: "builder",
      memoryBytes: 2 ** 30,
      cpus: 2,
      pids: 100,
      network: "proxy",
      mounts: [{ source: "/srv/cache", target: "/cache", isReadOnly: true }],
    });
    const wish = {
      role: "builder",
      image: "mine",
      memory: "512m",
      network: "full",
      mounts: ["data:/data:ro"],
    } as const;
    expect(chosenContainer(wish, where)).toMatchObject({
      image: "mine",
      memoryBytes: 512 * 2 ** 20,
      network: "full",
      mounts: [{ source: "/src/project/data", target: "/data", isReadOnly: true }],
    });
  });

  it.each([
    [{ memory: "63m" }, "limits-too-low"],
    [{ memory: "much" }, "memory-invalid"],
    [{ pids: 4 }, "limits-too-low"],
    [{ cpus: 0.01 }, "limits-too-low"],
    [{ mounts: ["/a"] }, "mount-invalid"],
    [{ mounts: ["/a:b"] }, "mount-invalid"],
    [{ mounts: ["/a:/proc"] }, "mount-not-allowed"],
    [{ mounts: ["/home/me:/data"] }, "mount-not-allowed"],
    [{ mounts: ["../..:/data"] }, "mount-not-allowed"],
  ])("refuses %j: %s", (wish, code) => {
    expect(() => chosenContainer(wish, where)).toThrow(expect.objectContaining({ code, kind: "usage" }) as Error);
  });

  it.each(["/", "/home", "/home/me/.reeve/run", "/src/reeve", "/elsewhere", "/srcs"])(
    "refuses to work in %s",
    (cwd) => {
      const code = "workspace-not-allowed";
      expect(() => chosenContainer({}, { ...where, cwd })).toThrow(expect.objectContaining({ code }) as Error);
    },
  );

  it.each([
    ["memory = 2", "[role.x] memory must be an amount"],
    ["cpus = 0", "[role.x] cpus must be a number from 0.01 to 4096"],
    ['network = "half"', "[role.x] network must be one of"],
    ['mounts = ["cache:/cache"]', "[role.x] mounts must be a list such as"],
    ['disk = "2g"', "there is no setting disk in [role.x]"],
  ])("refuses %s of a role", (line, message) => {
    expect(() => parseSettings(`[role.x]\n${line}\n`)).toThrow(message);
  });

  it("needs an image, and a runtime with containers", () => {
    const bare = { ...where, settings: parseSettings("") };
    expect(() => chosenContainer({}, bare)).toThrow(/--image/);
    expect(() => refuseContainer({ network: "none" }, "tmux")).toThrow(/--runtime docker/);
    expect(refuseContainer({ role: "x" }, "tmux")).toBeUndefined();
  });
});

describe("what of an environment goes into a container", () => {
  const launch = {
    paths: { PATH: "/image/bin", HOME: "/home/me" },
    envNames: ["GIVEN"],
    envFile: null,
    keyFiles: { KEY: "/k" },
  };
  const environment = {
    PATH: "/host/bin",
    HOME: "/home/me",
    LC_ALL: "C",
    TERM: "xterm",
    GIVEN: "1",
    KEY: "2",
    AWS_SECRET_ACCESS_KEY: "host's",
    SSH_AUTH_SOCK: "/run/agent",
  };

  it("is a person, their terminal, and what was given; with the image's PATH", () => {
    const { AWS_SECRET_ACCESS_KEY: _secret, SSH_AUTH_SOCK: _socket, ...kept } = environment;
    expect(containerEnvironment(environment, launch, [])).toEqual({ ...kept, PATH: "/image/bin" });
  });

  it("has what its agent logs in by, and no other key", () => {
    const keys = { ANTHROPIC_API_KEY: "its own", OPENAI_API_KEY: "another's" };
    const inside = containerEnvironment({ ...environment, ...keys }, launch, ["ANTHROPIC_API_KEY", "NOT_SET"]);
    expect(inside).toMatchObject({ ANTHROPIC_API_KEY: "its own" });
    expect(Object.keys(inside)).not.toContain("OPENAI_API_KEY");
    expect(Object.keys(inside)).not.toContain("NOT_SET");
  });

  it("has a PATH that was given by hand", () => {
    expect(containerEnvironment(environment, { ...launch, envNames: ["PATH"] }, [])["PATH"]).toBe("/host/bin");
  });
});
