/**
 * The image that a user gets: the default base (made here by debootstrap, with Node of this project's packages laid over
 * it, so that no registry of images is needed), Debian's packages and the newest agents from npm. Needs the network of a
 * Debian mirror and of npm, debootstrap, and minutes: a long run by hand, REEVE_TEST_FULL_IMAGE=1.
 * REEVE_TEST_CA_CERTIFICATE names a file of authorities that npm needs here.
 */
import { execFileSync } from "node:child_process";
import { cpSync, mkdtempSync, realpathSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect, it } from "vitest";
import { findExecutable } from "../../src/platform/executable.ts";
import { runInImage } from "../support/run-in-image.ts";
import { engineImpediment, startDockerEngine } from "../support/docker-engine.ts";
import { createTestHome } from "../support/test-home.ts";

const ROOT = join(import.meta.dirname, "..", "..");
const isWanted = process.env["REEVE_TEST_FULL_IMAGE"] === "1" && engineImpediment() === null;

it.skipIf(!isWanted)(
  "the default image: Debian, and all three agents from npm",
  async () => {
    const dir = mkdtempSync(join(tmpdir(), "reeve-full-image-"));
    const engine = await startDockerEngine({ liveRestore: false });
    const home = createTestHome();
    const begunAt = performance.now();
    const lap = (what: string): void => console.log(`${what}: ${Math.round((performance.now() - begunAt) / 1_000)} s`);
    try {
      await engine.importImage(debian(dir), "node:22-bookworm-slim", [
        "ENV PATH=/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin",
      ]);
      lap("base made");
      const authority = process.env["REEVE_TEST_CA_CERTIFICATE"];
      const args = ["--network", "host", ...(authority === undefined ? [] : ["--ca-certificate", authority]), "--json"];
      const environment = { DOCKER_HOST: engine.host };
      const built = await home.run(["image", "build", ...args], { environment });
      lap("image built");
      expect({ status: built.status, error: built.status === 0 ? "" : built.stdout }).toEqual({ status: 0, error: "" });
      console.log(built.stdout.replaceAll("\\n", "\n"));
      const image = JSON.parse(built.stdout) as {
        readonly agents: readonly { readonly agent: string; readonly version: string }[];
      };
      expect(image.agents.map(({ agent }) => agent)).toEqual(["codex", "claude", "gemini"]);

      const again = await home.run(["image", "build", ...args], { environment });
      lap("the same from the cache");
      expect(JSON.parse(again.stdout)).toEqual(image);

      const script =
        "id -u; codex --version; claude --version; gemini --version; git --version; tmux -V; rg --version; curl --version";
      const said = await runInImage(engine, "reeve-session", script);
      console.log(said.join("\n"));
      const text = said.join("\n");
      for (const { version } of image.agents) expect(text).toContain(version);
      for (const program of ["4711", "git version", "tmux 3", "ripgrep", "curl "]) expect(text).toContain(program);
    } finally {
      await home.dispose();
      await engine.dispose();
      rmSync(dir, { recursive: true, force: true });
    }
  },
  1_800_000,
);

function debian(dir: string): string {
  const root = join(dir, "root");
  execFileSync("debootstrap", ["--variant=minbase", "--include=bash,ca-certificates,libstdc++6", "bookworm", root], {
    stdio: ["ignore", "ignore", "inherit"],
    env: { ...process.env, PATH: `${process.env["PATH"] ?? ""}:/usr/sbin:/sbin` },
  });
  const npm = dirname(
    dirname(realpathSync(findExecutable("npm", { cwd: "/", path: process.env["PATH"] ?? "" }) ?? "")),
  );
  cpSync(join(ROOT, "node_modules", "node", "bin", "node"), join(root, "usr/local/bin/node"));
  cpSync(npm, join(root, "usr/local/lib/node_modules/npm"), { recursive: true });
  symlinkSync("../lib/node_modules/npm/bin/npm-cli.js", join(root, "usr/local/bin/npm"));
  const archive = join(dir, "debian.tar");
  execFileSync("tar", ["-c", "-f", archive, "-C", root, "--exclude=./proc/*", "--exclude=./sys/*", "."]);
  return archive;
}
