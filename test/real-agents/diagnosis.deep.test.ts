/**
 * The trap of the seeds. A healthy service that Codex's sandbox does not let its shell reach is never called
 * down; one that is down is, and only after it was tried without the sandbox. With REEVE_TEST_CHROMA the service is a real
 * Chroma as well.
 */
import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { CHROMA, startChroma } from "../support/chroma-server.ts";
import { doctor, type Layer, statusesOf, verdictOf } from "../support/doctor.ts";
import { eventually } from "../support/eventually.ts";
import { type LoopbackService, loopbackService } from "../support/loopback-service.ts";
import { CASES } from "./rig.ts";
import { rigOf } from "./rig-of.ts";
import { endNow } from "./session-steps.ts";

describe("codex", { timeout: 120_000 }, () => {
  const rig = rigOf(CASES.codexHooks);
  let service: LoopbackService;
  let path = "";

  beforeAll(async () => {
    service = await loopbackService();
    const { home, workDir } = rig();
    // A `gh` that asks the service, as the real one asks GitHub.
    const programs = join(home.dir, "programs");
    mkdirSync(programs);
    const gh = join(programs, "gh");
    writeFileSync(
      gh,
      `#!/bin/sh\n[ "$1 $2" = "api user" ] || exit 64\n[ -z "$GH_BROKEN" ] || exit 1\nexec ${process.execPath} -e 'fetch("${service.url}/user").then((r) => process.exit(r.ok ? 0 : 1), () => { console.error("error connecting"); process.exit(1) })'\n`,
    );
    chmodSync(gh, 0o755);
    path = `${programs}:${home.environment["PATH"] ?? ""}`;
    execFileSync("git", ["init", "--quiet", workDir]);
    execFileSync("git", ["-C", workDir, "remote", "add", "origin", `${service.url}/github.local/app.git`]);
    await home.run(["daemon", "start"], { environment: { PATH: path } });
  });
  afterAll(() => service?.stop());

  const start = async (
    args: readonly string[],
    environment: Readonly<Record<string, string>> = {},
  ): Promise<string> => {
    const { session_id: id } = await rig().start(null, { args, environment: { PATH: path, ...environment } });
    await eventually("something can be tried where it lives", async () => {
      return (await rig().home.session(id)).liveness === "running";
    });
    return id;
  };

  test("under workspace-write the service, GitHub and Reeve itself are sandbox artefacts, and down once they are", async () => {
    const id = await start(["--sandbox", "workspace-write"]);
    const look = () => doctor(rig().home, id, "--service", `api=${service.url}/health`);
    const hidden = await look();
    expect(verdictOf(hidden("api"))).toBe("sandbox-artefact: network namespace");
    expect(statusesOf(hidden("api"))).toEqual({ native: "reached", session: "failed", escalated: "reached" });
    expect(hidden("api").detail).toContain("It works: Reeve itself reaches it.");
    expect(verdictOf(hidden("github"))).toBe("sandbox-artefact: network namespace");
    expect(verdictOf(hidden("reeve"))).toBe("sandbox-artefact: seccomp");
    expect(hidden("reeve").advice).toContain("MCP tools");
    expect(verdictOf(hidden("disk"))).toBe("healthy");
    expect(verdictOf(hidden("model api"))).toBe("sandbox-artefact: network namespace");

    await service.stop();
    const gone = await look();
    expect(verdictOf(gone("api"))).toBe("down");
    expect(statusesOf(gone("api"))).toEqual({ native: "failed", session: "failed", escalated: "failed" });
    expect(gone("api").routes.find(({ route }) => route === "escalated")?.code).toBe("ECONNREFUSED");
    expect(verdictOf(gone("github"))).toBe("down");
    await service.start();
    await endNow(rig(), id);
  });

  test("read-only: what cannot be written to is a mount, not a disk", async () => {
    const id = await start(["--sandbox", "read-only"]);
    expect(verdictOf((await doctor(rig().home, id))("disk"))).toBe("sandbox-artefact: read-only mount");
    await endNow(rig(), id);
  });

  test("with network access all of it is healthy; what only Reeve does not reach is said to be that", async () => {
    const id = await start(WITH_NETWORK);
    const open = await doctor(rig().home, id, "--service", `api=${service.url}/health`);
    expect(["api", "github", "model api", "reeve"].map((layer) => verdictOf(open(layer)))).toEqual([
      "healthy",
      "healthy",
      "healthy",
      "healthy",
    ]);
    await rig().home.killDaemon();
    await rig().home.run(["daemon", "start"], { environment: { PATH: path, GH_BROKEN: "1" } });
    const native = (await doctor(rig().home, id))("github");
    expect(verdictOf(native)).toBe("misconfigured: the native route");
    expect(native.detail).toContain("The session reaches it, and Reeve itself does not");
    await endNow(rig(), id);
  });

  test.skipIf(CHROMA === undefined)(
    "a real Chroma: hidden by the sandbox, healthy without it, down when stopped",
    async () => {
      const chroma = await startChroma(rig().home.dir);
      try {
        const look = async (id: string): Promise<Layer> =>
          (await doctor(rig().home, id, "--service", `chroma=${chroma.url}`))("chroma");
        const closed = await start(["--sandbox", "workspace-write"]);
        const hidden = await look(closed);
        expect(verdictOf(hidden)).toBe("sandbox-artefact: network namespace");
        expect(statusesOf(hidden)).toEqual({ native: "reached", session: "failed", escalated: "reached" });
        const open = await start(WITH_NETWORK);
        expect(verdictOf(await look(open))).toBe("healthy");

        await chroma.stop();
        for (const id of [closed, open]) {
          const gone = await look(id);
          expect(verdictOf(gone)).toBe("down");
          expect(statusesOf(gone)).toEqual({ native: "failed", session: "failed", escalated: "failed" });
          await endNow(rig(), id);
        }
      } finally {
        await chroma.stop();
      }
    },
  );
});

const WITH_NETWORK = ["--sandbox", "workspace-write", "-c", "sandbox_workspace_write.network_access=true"];
