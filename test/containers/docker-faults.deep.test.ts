/**
 * What must hold when containers and their engine fail (faults 24 to 29, and bad input), against a real
 * Docker Engine. Figures are printed.
 */
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Target } from "../../src/runtime/contract.ts";
import { CONTAINER, makeDockerFixture } from "../conformance/docker-fixture.ts";
import { first, useGround } from "../conformance/runtime-ground.ts";
import { type DockerEngine, engineImpediment, startDockerEngine } from "../support/docker-engine.ts";
import { eventually } from "../support/eventually.ts";

const impediment = engineImpediment();
/** A shell that cannot fork ends: so some only sleep, while the others fork without end at the limit. */
const BOMB =
  "i=0; while [ $i -lt 45 ]; do sleep 1000 & i=$((i+1)); done; bomb() { while :; do bomb & done; }; bomb & exec sleep 1000";
const other: Target = { sessionId: "two", incarnation: 1 };

describe.skipIf(impediment !== null)(
  `faults of containers${impediment === null ? "" : ` (skipped: ${impediment})`}`,
  () => {
    let engine: DockerEngine;
    beforeAll(async () => {
      engine = await startDockerEngine({ liveRestore: true });
    }, 120_000);
    afterAll(() => engine.dispose(), 60_000);
    const ground = useGround(() => makeDockerFixture(engine));
    const { shell } = ground;
    const onlyContainer = async (): Promise<string> => (await ground.fixture.containers())[0] ?? "";
    const status = async (target: Target): Promise<string> => (await ground.runtime.observe(target)).status;

    it("tells a kill, a stop and a removal behind its back apart (fault 26)", { timeout: 60_000 }, async () => {
      const harm = {
        kill: (id: string) => engine.call("POST", `/containers/${id}/kill`),
        stop: (id: string) => engine.call("POST", `/containers/${id}/stop?t=1`),
        remove: (id: string) => engine.call("DELETE", `/containers/${id}?force=1`),
      };
      const expected = {
        kill: { status: "exited", code: 137, signal: "SIGKILL" },
        stop: { status: "exited", code: null, signal: "SIGTERM" },
        remove: { status: "absent" },
      };
      for (const how of ["kill", "stop", "remove"] as const) {
        const target = { sessionId: how, incarnation: 1 };
        await ground.runtime.create(shell(target, "sleep 100"));
        let hintedAt = 0;
        const ignore = ground.runtime.onChange((hinted) => {
          if (hinted?.sessionId === how) hintedAt = performance.now();
        });
        const found = await engine.call("GET", `/containers/json?filters=${filter(`dev.reeve.session=${how}`)}`);
        const startedAt = performance.now();
        await harm[how]((found.body as readonly { Id: string }[])[0]?.Id ?? "");
        await eventually(`the ${how} was hinted at`, () => hintedAt > startedAt);
        expect(await ground.runtime.observe(target)).toMatchObject(expected[how]);
        console.log(`fault 26: ${how} noticed after ${Math.round(hintedAt - startedAt)} ms`);
        ignore();
      }
    });

    it(
      "calls one that was paused by hand running and frozen, and goes on with it (fault 27)",
      { timeout: 60_000 },
      async () => {
        await ground.runtime.create(shell(first, "sleep 100"));
        const id = await onlyContainer();
        await engine.call("POST", `/containers/${id}/pause`);
        expect(await ground.runtime.observe(first)).toMatchObject({ status: "running", isFrozen: true });
        await engine.call("POST", `/containers/${id}/unpause`);
        await eventually("it goes on", async () => {
          const presence = await ground.runtime.observe(first);
          return presence.status === "running" && presence.isFrozen === false;
        });
      },
    );

    it(
      "calls its sessions unreachable while the engine is dead, and finds the same ones afterwards (fault 28)",
      { timeout: 120_000 },
      async () => {
        const { place } = await ground.runtime.create(shell(first, 'while read x; do echo "$x" >>got; done'));
        await engine.kill();
        expect(await ground.runtime.list()).toMatchObject({ reachable: false });
        expect(await status(first)).toBe("unreachable");
        const startedAt = performance.now();
        await engine.start();
        const answersAt = performance.now();
        await eventually("it is found again", async () => (await status(first)) === "running", 30_000);
        console.log(
          `fault 28: found ${Math.round(performance.now() - answersAt)} ms after the engine was back (${Math.round(answersAt - startedAt)} ms)`,
        );
        expect(await ground.runtime.observe(first)).toMatchObject({ place });
        await ground.runtime.send(first, [{ type: "paste", text: "again\n" }]);
        expect(await ground.written("got")).toBe("again\n");
        expect(await ground.fixture.containers()).toHaveLength(1);
      },
    );

    it("answers within 5 s while the engine hangs, and concludes nothing (fault 29)", { timeout: 60_000 }, async () => {
      await ground.runtime.create(shell(first, "sleep 100"));
      const times: number[] = [];
      const timed = async <T>(ask: () => Promise<T>): Promise<T> => {
        const startedAt = performance.now();
        try {
          return await ask();
        } finally {
          times.push(performance.now() - startedAt);
        }
      };
      engine.hang();
      try {
        const fresh = ground.fixture.reopen();
        const [seen, listing, asked] = await Promise.all([
          timed(() => ground.runtime.observe(first)),
          timed(() => ground.runtime.list()),
          timed(() => fresh.observe(first)),
        ]);
        expect([seen.status, listing.reachable, asked.status]).toEqual(["unreachable", false, "unreachable"]);
        await timed(() => expect(fresh.requireReady()).rejects.toMatchObject({ kind: "unavailable" }));
      } finally {
        engine.goOn();
      }
      expect(Math.max(...times)).toBeLessThan(5_000);
      console.log(`fault 29: the slowest answer took ${Math.round(Math.max(...times))} ms`);
      await eventually("it answers again", async () => (await status(first)) === "running");
    });

    it("ends a fork bomb, and others go on meanwhile (fault 24)", { timeout: 120_000 }, async () => {
      await ground.runtime.create(shell(other, 'while read x; do echo "$x" >>"$x"; done'));
      const timeOf = async (word: string): Promise<number> => {
        const startedAt = performance.now();
        await ground.runtime.send(other, [{ type: "paste", text: `${word}\n` }]);
        await ground.written(word);
        return performance.now() - startedAt;
      };
      const quiet: number[] = [];
      for (let round = 0; round < 5; round += 1) quiet.push(await timeOf(`quiet-${round}`));
      const container = { ...CONTAINER, pids: 64, cpus: 0.5 };
      await ground.runtime.create(shell(first, BOMB, { container }));
      await eventually("it has spread", () => ground.fixture.census().living >= 40);
      const busy: number[] = [];
      for (let round = 0; round < 5; round += 1) busy.push(await timeOf(`round-${round}`));
      const [before = 0, during = 0] = [quiet, busy].map((times) => times.toSorted((a, b) => a - b)[2] ?? 0);
      console.log(
        `fault 24: a message to another session takes ${during.toFixed(1)} ms, ${(during / before).toFixed(1)} times as long as before`,
      );
      expect(await ground.runtime.stop(first, { graceMs: 200 })).toMatchObject({ survivors: [] });
      expect(await status(first)).not.toBe("running");
      expect(await status(other)).toBe("running");
    });

    it("leaves a container alone that has the name, but not the labels", { timeout: 60_000 }, async () => {
      const name = `reeve-${ground.fixture.instance}-one-1`;
      const made = await engine.call("POST", `/containers/create?name=${name}`, {
        Image: CONTAINER.image,
        Cmd: ["sh"],
      });
      try {
        await expect(ground.runtime.create(shell(first, "true"))).rejects.toMatchObject({
          code: "container-name-taken",
          kind: "conflict",
        });
        expect(await status(first)).toBe("absent");
        expect((await engine.call("GET", `/containers/${name}/json`)).status).toBe(200);
      } finally {
        await engine.call("DELETE", `/containers/${(made.body as { Id: string }).Id}?force=1`);
      }
    });

    it("says what is wrong with an image, and leaves no container of it", { timeout: 60_000 }, async () => {
      await importShellAlone(engine, "alone");
      await importShellAlone(engine, "foreign", "s390x");
      const create = (image: string) =>
        ground.runtime.create(shell(first, "true", { container: { ...CONTAINER, image } }));
      await expect(create("nobody/has:this")).rejects.toMatchObject({ code: "image-missing", kind: "usage" });
      await expect(create("alone")).rejects.toMatchObject({ code: "image-without-tmux", kind: "usage" });
      await expect(create("foreign")).rejects.toMatchObject({ code: "image-wrong-architecture", kind: "usage" });
      await expect(ground.runtime.create({ ...shell(first, "true"), cwd: "/nowhere/at/all" })).rejects.toMatchObject({
        code: "mount-source-missing",
      });
      expect(await ground.fixture.containers()).toEqual([]);
    });

    it(
      "keeps a session apart: no capabilities, no network, a root that cannot be written, its limits",
      { timeout: 60_000 },
      async () => {
        const look = [
          "grep -E '^(CapEff|CapBnd|NoNewPrivs)' /proc/self/status",
          "ls /sys/class/net",
          "touch /etc/x 2>/dev/null && echo writable || echo read-only",
          "cat /sys/fs/cgroup/pids.max /sys/fs/cgroup/pids/pids.max 2>/dev/null",
          "cat /sys/fs/cgroup/memory.max /sys/fs/cgroup/memory/memory.limit_in_bytes 2>/dev/null",
        ];
        await ground.runtime.create(shell(first, `{ ${look.join("; ")}; } >seen; mv seen done; sleep 100`));
        const seen = (await ground.written("done")).trim().split("\n");
        expect(seen).toEqual([
          expect.stringMatching(/^CapEff:\s+0+$/) as string,
          expect.stringMatching(/^CapBnd:\s+0+$/) as string,
          expect.stringMatching(/^NoNewPrivs:\s+1$/) as string,
          "lo",
          "read-only",
          "200",
          "268435456",
        ]);
      },
    );
  },
);

describe.skipIf(impediment !== null)("an engine without live-restore (fault 28)", () => {
  let engine: DockerEngine;
  beforeAll(async () => {
    engine = await startDockerEngine({ liveRestore: false });
  }, 120_000);
  afterAll(() => engine.dispose(), 60_000);
  const ground = useGround(() => makeDockerFixture(engine));

  it(
    "ends its sessions when it is restarted, which is told as their end, and they can be started again",
    { timeout: 120_000 },
    async () => {
      expect(await ground.runtime.requireReady()).toContain("live-restore is off");
      await ground.runtime.create(ground.shell(first, "sleep 100"));
      await engine.kill();
      expect((await ground.runtime.observe(first)).status).toBe("unreachable");
      await engine.start();
      const presence = await eventually("its end is told", async () => {
        const seen = await ground.runtime.observe(first);
        return seen.status === "exited" && seen;
      });
      expect(presence.evidence).toMatch(/^container [0-9a-f]{12} /);
      const next = { ...first, incarnation: 2 };
      await ground.runtime.create(ground.shell(next, "sleep 100"));
      expect((await ground.runtime.observe(next)).status).toBe("running");
      expect(await ground.fixture.containers()).toHaveLength(1);
    },
  );
});

function filter(label: string): string {
  return encodeURIComponent(JSON.stringify({ label: [label] }));
}

/** An image with a shell and nothing else; with an architecture, one that says it is for that. */
async function importShellAlone(engine: DockerEngine, name: string, architecture?: string): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), "reeve-image-"));
  const tar = (archive: string, from: string, members: readonly string[]): string => {
    execFileSync("tar", ["-h", "-c", "-f", join(directory, archive), "-C", from, ...members]);
    return join(directory, archive);
  };
  try {
    const libraries = execFileSync("ldd", ["/bin/sh"], { encoding: "utf8" }).matchAll(/\/[^ \n]+(?= \(0x)/g);
    const layer = tar("layer.tar", "/", ["bin/sh", ...[...libraries].map(([path]) => path.slice(1))]);
    if (architecture === undefined) return await engine.importImage(layer, name);
    const digest = `sha256:${createHash("sha256").update(readFileSync(layer)).digest("hex")}`;
    const config = { architecture, os: "linux", config: {}, rootfs: { type: "layers", diff_ids: [digest] } };
    const manifest = [{ Config: "config.json", RepoTags: [`${name}:latest`], Layers: ["layer.tar"] }];
    writeFileSync(join(directory, "config.json"), JSON.stringify(config));
    writeFileSync(join(directory, "manifest.json"), JSON.stringify(manifest));
    await engine.loadImage(tar("image.tar", directory, ["manifest.json", "config.json", "layer.tar"]));
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}
