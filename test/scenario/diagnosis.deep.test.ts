/** Diagnosis by layer of sessions without a sandbox of their agent's own, and what must not hold it up. */
import { join } from "node:path";
import { writeFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { doctor, statusesOf, verdictOf } from "../support/doctor.ts";
import { eventually } from "../support/eventually.ts";
import { inHome } from "../support/in-home.ts";
import { loopbackService } from "../support/loopback-service.ts";
import type { TestHome } from "../support/test-home.ts";
import { runProgram } from "../support/test-home.ts";

const ROOT = join(import.meta.dirname, "..", "..");
const start = async (home: TestHome, ...options: readonly string[]): Promise<void> => {
  await home.json("start", "command", "--name", "worker", "--cwd", home.dir, ...options, "--", "sleep", "300");
  await eventually("it runs", async () => (await home.session("worker")).state === "running");
};

describe("services", () => {
  test("of a manifest, of the repository and of the command line are told apart by what answers", () =>
    inHome("", async (home) => {
      const well = await loopbackService();
      const other = await loopbackService((path) => (path === "/api/v2/heartbeat" ? 404 : 200));
      const broken = await loopbackService(() => 503);
      try {
        writeFileSync(
          join(home.dir, "reeve.toml"),
          `[[services]]\nname = "shop"\nurl = "${well.url}/health"\n[[services]]\nname = "chroma"\nurl = "${other.url}"\n`,
        );
        writeFileSync(
          join(home.dir, ".mcp.json"),
          JSON.stringify({ mcpServers: { docs: { url: `${broken.url}/mcp` } } }),
        );
        await start(home);
        await other.stop();
        const down = await doctor(home, "worker", "--service", `again=${well.url}`);
        expect(["shop", "chroma", "docs", "again"].map((layer) => verdictOf(down(layer)))).toEqual([
          "healthy",
          "down",
          "down",
          "healthy",
        ]);
        await other.start();
        const old = (await doctor(home, "worker"))("chroma");
        expect(verdictOf(old)).toBe("misconfigured");
        expect(old.detail).toContain("HTTP 404");
        const alone = await doctor(home, "--service", well.url);
        expect(alone(new URL(well.url).host)).toMatchObject({ verdict: "healthy", routes: [{ route: "native" }] });
      } finally {
        await Promise.all([well.stop(), other.stop(), broken.stop()]);
      }
    }));

  test("ten that hang are tried side by side, each with its time limit", () =>
    inHome("", async (home) => {
      const hanging = await Promise.all(Array.from({ length: 10 }, () => loopbackService(() => "hang")));
      try {
        await start(home);
        const begun = Date.now();
        const found = await doctor(
          home,
          "worker",
          ...hanging.flatMap(({ url }, index) => ["--service", `s${index}=${url}`]),
        );
        const took = Date.now() - begun;
        console.log(`doctor with ten services that hang: ${took} ms`);
        for (const index of hanging.keys()) {
          expect([index, verdictOf(found(`s${index}`))]).toEqual([index, "down"]);
          expect(found(`s${index}`).routes.map(({ code }) => code)).toEqual(["timeout", "timeout", "timeout"]);
        }
        // One after the other, by the first route alone, they would take 18 s.
        expect(took).toBeLessThan(18_000);
      } finally {
        await Promise.all(hanging.map((service) => service.stop()));
      }
    }));

  test("what is no address of a service is refused", () =>
    inHome("", async (home) => {
      for (const service of [
        "localhost:8000",
        "ftp://localhost",
        "tcp://localhost",
        "http://me:it@localhost",
        "x=",
        "http://",
      ]) {
        const { status, stderr } = await home.run(["doctor", "--service", service]);
        expect([service, status, stderr]).toEqual([
          service,
          2,
          expect.stringContaining("an address (http://, https://, or tcp://"),
        ]);
      }
    }));
});

test("a session that has ended, and one that never was", () =>
  inHome("", async (home) => {
    await start(home);
    await home.json("end", "worker", "--grace", "0");
    const ended = await doctor(home, "worker");
    expect(ended("disk")).toMatchObject({
      verdict: "unknown",
      detail: expect.stringContaining("the session does not run"),
    });
    const { status, stderr } = await home.run(["doctor", "nobody"]);
    expect(status).not.toBe(0);
    expect(stderr).toContain("nobody");
  }));

test("nothing that was tried is left behind, also if the daemon is killed meanwhile", () =>
  inHome("", async (home) => {
    const hanging = await loopbackService(() => "hang");
    try {
      await start(home);
      const asked = home.run(["doctor", "worker", "--service", hanging.url, "--json"]);
      await eventually("it is tried where the session is", () =>
        runProgram("pgrep", ["-f", `${home.dir}/run/beside-`], home.environment).then(({ status }) => status === 0),
      );
      await home.killDaemon();
      await asked;
      await eventually("nothing of it runs", () =>
        runProgram("pgrep", ["-f", `${home.dir}/run/beside-`], home.environment).then(({ status }) => status === 1),
      );
    } finally {
      await hanging.stop();
    }
  }));

test.runIf(process.getuid?.() === 0)("a daemon without a network says that its own route is broken", () =>
  inHome("", async (home) => {
    const service = await loopbackService();
    try {
      await start(home);
      await home.killDaemon();
      // As if it had been started from inside somebody's sandbox.
      const line = ["--net", join(ROOT, "bin", "reeve"), "daemon", "start"];
      expect((await runProgram("unshare", line, home.environment)).status).toBe(0);
      const cut = (await doctor(home, "worker", "--service", `api=${service.url}`))("api");
      expect(verdictOf(cut)).toBe("misconfigured: the native route");
      expect(statusesOf(cut)).toEqual({ native: "failed", session: "reached" });
    } finally {
      await service.stop();
    }
  }),
);
