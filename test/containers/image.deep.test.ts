/**
 * `reeve image build` with the project's own Dockerfile on a real Docker Engine, without a network: the base is made of
 * this machine's programs, and npm gets the real Gemini CLI from a registry on loopback, whose certificate nobody knows
 * unless --ca-certificate says so.
 */
import { spawn } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createImageWorkshop } from "../../src/runtime/docker/image-workshop.ts";
import { BASE_IMAGE, baseImageArchive, baseImpediment } from "../support/base-image.ts";
import { type DockerEngine, engineImpediment, startDockerEngine } from "../support/docker-engine.ts";
import { eventually } from "../support/eventually.ts";
import { type NpmRegistry, startNpmRegistry } from "../support/npm-registry.ts";
import { openTerminal } from "../support/person-terminal.ts";
import { runInImage } from "../support/run-in-image.ts";
import { createTestHome, type TestHome } from "../support/test-home.ts";

const ROOT = join(import.meta.dirname, "..", "..");
const GEMINI = join(ROOT, "test", "agent-programs", "node_modules", "@google", "gemini-cli");
const VERSION = versionIn(GEMINI);
const REEVE_VERSION = versionIn(ROOT);

interface Built {
  readonly image_id: string;
  readonly tags: readonly string[];
  readonly agents: readonly { readonly agent: string; readonly version: string }[];
  readonly labels: Readonly<Record<string, string>>;
}

const impediment = engineImpediment() ?? baseImpediment();

describe.skipIf(impediment !== null)(`images${impediment === null ? "" : ` (skipped: ${impediment})`}`, () => {
  let engine: DockerEngine;
  let registry: NpmRegistry;
  let home: TestHome;

  const reeve = (...args: readonly string[]) => home.run(args, { environment: { DOCKER_HOST: engine.host } });
  const build = (...args: readonly string[]) =>
    reeve("image", "build", "--base", BASE_IMAGE, "--network", "host", ...args);
  const containers = async () => (await engine.call("GET", "/containers/json?all=1")).body as readonly unknown[];

  beforeAll(async () => {
    registry = await startNpmRegistry(GEMINI);
    engine = await startDockerEngine({ liveRestore: false });
    await engine.importImage(baseImageArchive(), BASE_IMAGE, [`ENV npm_config_registry=${registry.url}`]);
    home = createTestHome();
  }, 180_000);
  afterAll(async () => {
    await home.dispose();
    await engine.dispose();
    await registry.dispose();
  }, 120_000);

  it("says that there is none yet, and how to build one", async () => {
    const listed = await reeve("image", "list");
    expect(listed).toEqual({
      status: 0,
      stdout: "",
      stderr: "There is no image that Reeve built. To build one: reeve image build\n",
    });
  });

  it("does not build where npm cannot trust the registry, and says what to do", async () => {
    const failed = await build("--agent", "gemini", "--json");
    const { error } = JSON.parse(failed.stdout) as {
      readonly error: { readonly code: string; readonly message: string; readonly details: Record<string, unknown> };
    };
    expect({ status: failed.status, stderr: failed.stderr, code: error.code }).toEqual({
      status: 1,
      stderr: "",
      code: "image-build-failed",
    });
    expect(error.message).toContain("--ca-certificate FILE");
    expect(error.details["step"]).toContain("install-agent.sh gemini @google/gemini-cli");
    expect((error.details["output"] as readonly string[]).join("\n")).toMatch(/certificate/i);
    expect(await containers()).toEqual([]);
  }, 120_000);

  it("builds with an agent, a package and an authority, tells its steps, and labels it with what is in it", async () => {
    const asked = ["--agent", "gemini", "--package", "python3", "--ca-certificate", registry.caFile];
    const first = await build(...asked, "--tag", "team/agents:1");
    expect(first.stderr).toMatch(/^\[1\/\d+\] ARG BASE=/m);
    expect(first.stderr).toMatch(/^ {2}All packages are installed already\.$/m);
    expect(first.stderr).toMatch(/^ {2}codex is not asked for\.$/m);
    expect(first.stdout).toMatch(new RegExp(`^Built team/agents:1: gemini ${VERSION}, \\d+ MB\\.\n$`));
    expect(first.status).toBe(0);

    // From the cache: the same image, and npm asks for nothing.
    const questions = registry.asked.length;
    const again = await build(...asked, "--tag", "team/agents:1", "--json");
    const image = JSON.parse(again.stdout) as Built;
    expect(image).toMatchObject({
      tags: ["team/agents:1"],
      agents: [{ agent: "gemini", version: VERSION }],
      labels: {
        "dev.reeve.image": "session",
        "dev.reeve.version": REEVE_VERSION,
        "dev.reeve.agent.gemini": VERSION,
        "dev.reeve.agent.codex": "",
      },
    });
    expect(registry.asked.length).toBe(questions);

    const listed = JSON.parse((await reeve("image", "list", "--json")).stdout) as { readonly images: readonly Built[] };
    expect(listed.images).toEqual([image]);
    expect((await reeve("image")).stdout).toMatch(
      new RegExp(`^IMAGE .*\nteam/agents:1 +gemini ${VERSION} +\\d+ MB +.*${REEVE_VERSION}\n$`),
    );
    expect(await containers()).toEqual([]);
  }, 180_000);

  it("runs as any user, with a root that cannot be written, and trusts the authority", async () => {
    const said = await runInImage(
      engine,
      "team/agents:1",
      `id -u; test -w /usr/local/share/reeve && echo writable; tmux -V >/dev/null && echo tmux; gemini --version
      node -e 'fetch(process.env.npm_config_registry + "/x").then((answer) => console.log(String(answer.status)))'
      ls -A /tmp`,
    );
    expect(said).toEqual(["4711", "tmux", VERSION, "404"]);
  }, 60_000);

  it("shows its steps on a terminal, and what the last one printed when it fails", async () => {
    const asked = `--network host --agent gemini@9.9.8 --package python3 --ca-certificate ${registry.caFile}`;
    const line = `DOCKER_HOST=${engine.host} ${join(ROOT, "bin", "reeve")} image build --base ${BASE_IMAGE} ${asked}`;
    const terminal = await openTerminal(home, line, { columns: 90, rows: 60 });
    try {
      const screen = await eventually(
        "it failed",
        async () => {
          const shown = await terminal.screen();
          return shown.includes("left with") ? shown : null;
        },
        120_000,
      );
      expect(screen).toContain("left with 1");
      expect(screen).toMatch(/^\[\d+\/\d+\] RUN sh \S+install-agent.sh gemini @google\/gemini-cli 9\.9\.8$/m);
      expect(screen).toMatch(/^ {2}npm error code ETARGET$/m);
      expect(screen.replaceAll(/\s+/g, " ")).toContain("npm does not have that version");
    } finally {
      await terminal.close();
    }
  }, 180_000);

  it.each(["with Ctrl-C", "because the daemon is killed"])(
    "is stopped when its caller goes away: %s",
    async (how) => {
      registry.hush();
      const questions = registry.asked.length;
      const asked = ["--agent", "gemini@9.9.9", "--ca-certificate", registry.caFile];
      const child = spawn(
        join(ROOT, "bin", "reeve"),
        ["image", "build", "--base", BASE_IMAGE, "--network", "host", ...asked],
        { env: { ...home.environment, DOCKER_HOST: engine.host }, stdio: ["ignore", "ignore", "pipe"] },
      );
      let said = "";
      child.stderr.setEncoding("utf8").on("data", (text: string) => (said += text));
      const ended = new Promise((resolve) => child.once("close", resolve));
      await eventually("npm waits for an answer", () => registry.asked.length > questions, 120_000);
      if (how === "with Ctrl-C") child.kill("SIGINT");
      else await home.killDaemon();
      const [status, word] = how === "with Ctrl-C" ? [130, "Stopped."] : [69, "Build it again"];
      expect({ status: await ended, says: said.includes(word) ? word : said }).toEqual({ status, says: word });
      await eventually("the engine has stopped the step", async () => (await containers()).length === 0, 60_000);
    },
    180_000,
  );

  it("says what to do about an engine that you may not use", async () => {
    const options = { directory: "", reeveVersion: "", host: engine.host, environment: {} };
    const workshop = createImageWorkshop(options);
    // The engine of the test is root's alone.
    process.seteuid?.(65_534);
    const refused = await workshop.list().then(
      () => null,
      (error: unknown) => error,
    );
    process.seteuid?.(0);
    expect(refused).toMatchObject({ code: "engine-forbidden", kind: "config" });
    expect(String(refused)).toContain("add yourself to the group docker");
  });

  it("refuses what cannot be built, before anything is sent to the engine", async () => {
    const noCertificate = join(home.dir, "notes.txt");
    const broken = join(home.dir, "broken.pem");
    writeFileSync(noCertificate, "not a certificate\n");
    writeFileSync(broken, "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n");
    const cases: readonly (readonly [readonly string[], string])[] = [
      [["--agent", "cursor"], "cursor"],
      [["--agent", "codex@newest"], "newest"],
      [["--agent", "codex@1.2.3; rm -rf /"], "no version of codex"],
      [["--agent", "codex@1.2.3", "--agent", "codex@1.2.4"], "twice"],
      [["--package", "python3 --yes"], "Debian package"],
      [["--tag", "Team Agents"], "name of an image"],
      [["--base", "$(id)"], "cannot be an image"],
      [["--ca-certificate", noCertificate], "holds no certificate"],
      [["--ca-certificate", broken], "cannot be read"],
      [["--ca-certificate", join(home.dir, "missing.pem")], "cannot be read"],
      [["--network", "bridge"], "--network"],
    ];
    for (const [args, word] of cases) {
      const { status, stdout, stderr } = await reeve("image", "build", ...args);
      expect({ args, status, stdout, says: stderr.includes(word) ? word : stderr }).toEqual({
        args,
        status: 2,
        stdout: "",
        says: word,
      });
    }
    const misplaced = await reeve("image", "list", "--tag", "x");
    expect(misplaced).toMatchObject({ status: 2, stderr: expect.stringContaining("reeve image build") as unknown });
  }, 60_000);

  it("says which step failed, and what to do about a base that there is none of", async () => {
    const failed = await reeve("image", "build", "--base", "127.0.0.1:9/no/such:1");
    expect(failed.status).toBe(1);
    expect(failed.stderr).toMatch(/The image was not built: .*"FROM 127\.0\.0\.1:9\/no\/such:1" failed: .*docker pull/);
  }, 60_000);

  it("says what to do where there is no engine", async () => {
    const alone = createTestHome();
    try {
      const environment = { DOCKER_HOST: `unix://${join(alone.dir, "no.sock")}` };
      for (const args of [
        ["image", "build"],
        ["image", "list"],
      ]) {
        const { status, stderr } = await alone.run(args, { environment });
        expect({ args, status, says: /No Docker Engine listens at .*; start it/.test(stderr) }).toEqual({
          args,
          status: 78,
          says: true,
        });
      }
    } finally {
      await alone.dispose();
    }
  }, 60_000);
});

function versionIn(directory: string): string {
  return (JSON.parse(readFileSync(join(directory, "package.json"), "utf8")) as { readonly version: string }).version;
}
