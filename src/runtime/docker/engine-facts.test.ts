import { createServer } from "node:http";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { createEngineClient } from "./engine-client.ts";
import { describeEngine, readEngineFacts } from "./engine-facts.ts";

/** What a rootless Engine 20.10 and Podman 4.3 said of themselves, shortened. */
const ROOTLESS = {
  version: { Version: "20.10.24", Arch: "amd64", Components: [{ Name: "Engine", Version: "20.10.24" }] },
  info: {
    LiveRestoreEnabled: false,
    SecurityOptions: ["name=seccomp,profile=default", "name=rootless"],
    MemoryLimit: false,
    PidsLimit: false,
    CpuCfsQuota: false,
    CgroupDriver: "none",
  },
};
const PODMAN = {
  version: { Version: "4.3.1", Arch: "amd64", Components: [{ Name: "Podman Engine", Version: "4.3.1" }] },
  info: { LiveRestoreEnabled: false, MemoryLimit: true, PidsLimit: true, CpuCfsQuota: true, CgroupDriver: "cgroupfs" },
};

describe("what is said of an engine", () => {
  let end = (): void => undefined;
  afterEach(() => end());

  const said = async ({ version, info }: { version: object; info: object }): Promise<string> => {
    const directory = mkdtempSync(join(tmpdir(), "reeve-"));
    const socketPath = join(directory, "e.sock");
    const server = createServer((request, response) => {
      response.end(JSON.stringify(request.url === "/version" ? version : info));
    });
    end = () => {
      server.close();
      rmSync(directory, { recursive: true, force: true });
    };
    await new Promise<void>((resolve) => server.listen(socketPath, resolve));
    const facts = await readEngineFacts(createEngineClient({ from: "the test", url: "unix:///e", socketPath }));
    return describeEngine(facts, "unix:///e");
  };

  it("names what one without root cannot do where it has no cgroups", async () => {
    const text = await said(ROOTLESS);
    expect(text).toMatch(/^Docker Engine 20\.10\.24 without root at unix:\/\/\/e; live-restore is off/);
    expect(text).toMatch(/; it cannot limit memory, limit processors, limit processes, suspend a session$/);
  });

  it("tells Podman apart, which needs no live-restore", async () => {
    expect(await said(PODMAN)).toBe(
      "Podman 4.3.1 at unix:///e; live-restore is not needed: sessions do not depend on a daemon; it cannot list the processes of a suspended session",
    );
  });
});
