/**
 * `--network proxy`, through the real CLI and daemon over a real Docker Engine: a container without a network reaches
 * what it is allowed to through the capture proxy, and nothing else.
 */
import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { connectControl } from "../../src/capture/proxy/control-client.ts";
import { startUpstream, type TestUpstream } from "../capture/proxy-fixture.ts";
import { type DockerEngine, engineImpediment, startDockerEngine } from "../support/docker-engine.ts";
import { eventually } from "../support/eventually.ts";
import { readIfThere } from "../support/read-if-there.ts";
import { DATA, machineArchive, PROGRAMS, SESSION_IMAGE } from "../support/session-image.ts";
import { createTestHome, type TestHome } from "../support/test-home.ts";

const impediment = engineImpediment();
const IMAGE = "reeve-test-network:1";
const PROXIED = ["--runtime", "docker", "--network", "proxy", "--cwd"] as const;

/**
 * A shell that does what it is told, line by line, and leaves the answer beside: `ask NAME PATH` writes what a GET of the
 * path answers, whole, into NAME.
 */
const CLIENT = String.raw`
trap '' PIPE # a connection that is refused must not end it
host=$(printf %s "$REEVE_UPSTREAM_MODEL" | sed 's,http://\([^/]*\)/.*,\1,'); port=$(printf %s "$host" | sed 's,.*:,,')
way=$(printf %s "$REEVE_UPSTREAM_MODEL" | sed 's,http://[^/]*,,')
get() { exec 3<>"/dev/tcp/127.0.0.1/$port" || return; printf 'GET %s HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n\r\n' "$1" "$host" >&3; cat <&3; exec 3>&-; }
ask() { get "$way$2" >"$1.part" 2>&1; mv "$1.part" "$1"; }
try() { if (exec 3<>"/dev/tcp/$2") 2>"$1.why"; then echo open >"$1.part"; else echo closed >"$1.part"; fi; mv "$1.part" "$1"; }
while read -r line; do eval "$line"; done`;

describe.skipIf(impediment !== null)(
  `containers that reach their model only${impediment === null ? "" : ` (skipped: ${impediment})`}`,
  () => {
    let engine: DockerEngine;
    let home: TestHome;
    let workspace: string;
    let upstream: TestUpstream;
    let listener: Server;
    let seen: string[];
    let goOn: () => void;

    beforeAll(async () => {
      engine = await startDockerEngine({ liveRestore: true });
      await engine.importImage(machineArchive("network-image", [...PROGRAMS, "perl"], DATA), IMAGE);
    }, 120_000);
    afterAll(() => engine.dispose(), 60_000);

    beforeEach(async () => {
      home = createTestHome();
      workspace = mkdtempSync(join(tmpdir(), "reeve-work-"));
      seen = [];
      upstream = await startUpstream((request, response) => {
        seen.push(`${request.method} ${request.url}`);
        if (request.url === "/v1/stream") {
          response.writeHead(200, { "content-type": "text/event-stream" });
          response.write("data: first\n\n");
          goOn = () => response.end("data: second\n\n");
          return;
        }
        response.end(`answer to ${request.url}\n`);
      });
      listener = createServer().listen(0, "127.0.0.1");
      home.configure(
        `[docker]\nhost = "${engine.host}"\nimage = "${IMAGE}"\nmemory = "256m"\n[docker.upstreams]\nmodel = "${upstream.url}/v1"\n`,
      );
    });
    afterEach(async () => {
      await home.dispose();
      await upstream.close();
      listener.close();
      rmSync(workspace, { recursive: true, force: true });
    });

    const start = (name: string, ...more: readonly string[]): Promise<Record<string, unknown>> =>
      home.json("start", "command", "--name", name, ...PROXIED, workspace, ...more, "--", "bash", "-c", CLIENT);
    const tell = (name: string, line: string) => home.json("send", name, line);
    const said = (file: string): Promise<string> =>
      eventually(`${file} is there`, () => readIfThere(join(workspace, file)), 60_000);
    const ask = async (name: string, file: string, path: string): Promise<string> => {
      await tell(name, `ask ${file} ${path}`);
      return await said(file);
    };
    const capture = (): string => join(home.dir, "run", "capture.sock");
    const rawLogs = (): readonly string[] =>
      readdirSync(join(home.dir, "outputs"), { recursive: true, encoding: "utf8" }).filter((file) =>
        file.includes("oai_raw"),
      );
    const proxy = async () => {
      const control = await connectControl(capture(), () => undefined);
      try {
        return await control.status();
      } finally {
        control.close();
      }
    };

    test("it reaches its upstream, as it streams, with nothing recorded; and nothing else", async () => {
      await start("one");
      expect(await ask("one", "a", "/models")).toMatch(/^HTTP\/1.1 200 OK[^]*answer to \/v1\/models\n$/);
      await tell("one", "ask b /stream");
      await eventually(
        "the first part came through",
        () => readIfThere(join(workspace, "b.part"))?.includes("data: first") === true,
      );
      goOn();
      expect(await said("b")).toContain("data: second");
      expect(seen).toEqual(["GET /v1/models", "GET /v1/stream"]);

      const { port } = listener.address() as { readonly port: number };
      const elsewhere = [
        `127.0.0.1/${port}`,
        `127.0.0.1/${upstream.port}`,
        "172.17.0.1/80",
        "192.0.2.1/443",
        "model.example/443",
        "8.8.8.8/53",
      ];
      for (const [index, to] of elsewhere.entries()) await tell("one", `try t${index} ${to}`);
      for (const [index] of elsewhere.entries()) expect(await said(`t${index}`)).toBe("closed\n");
      await tell("one", "ls /sys/class/net >nets.part; mv nets.part nets");
      expect(await said("nets")).toBe("lo\n");

      const { session_id: id } = await home.session("one");
      expect((await proxy()).routes).toMatchObject([{ sessionId: id, exchanges: 2 }]);
      expect(rawLogs()).toEqual([]);
    }, 180_000);

    /** Of the only container, by its number on this machine. */
    const carrierPid = async (): Promise<number> => {
      const { body } = await engine.call("GET", "/containers/json");
      const [found] = body as readonly { readonly Id: string }[];
      const top = await engine.call("GET", `/containers/${found?.Id}/top?ps_args=-eo%20pid,args`);
      const rows = (top.body as { readonly Processes: readonly (readonly string[])[] }).Processes;
      return Number(rows.find(([, line]) => line?.startsWith("reeve-passage"))?.[0]);
    };

    test("killed, the proxy and what carries to it come back, and the daemon is not needed", async () => {
      await start("one", "--persist-session");
      expect(await ask("one", "a", "/1")).toContain("answer to /v1/1");
      await tell("one", "n=0; until [ -e stop ]; do n=$((n+1)); ask r$n /again$n; sleep 0.3; done; mv stop stopped");
      const answered = async (): Promise<void> => {
        const from = seen.length;
        await eventually("requests go on", () => seen.length > from + 2, 60_000);
      };
      await answered();
      await home.killDaemon();
      await answered();
      await home.list();
      const { pid } = await proxy();
      process.kill(pid, "SIGKILL");
      await eventually("another proxy serves it", async () => {
        const now = await proxy().catch(() => null);
        return now !== null && now.pid !== pid && now.routes.length === 1;
      });
      await answered();
      process.kill(await carrierPid(), "SIGKILL");
      await answered();
      expect(await home.session("one")).toMatchObject({ state: "running" });
      writeFileSync(join(workspace, "stop"), "");
      await said("stopped");
      await eventually("what passed is recorded", () => rawLogs().length > 0);
      await home.json("restart", "one");
      await eventually("it runs again", async () => (await home.session("one")).state === "running", 60_000);
      expect(await ask("one", "c", "/2")).toContain("answer to /v1/2");
      await home.json("end", "one");
      expect(readdirSync(join(home.dir, "run", "box"))).toEqual([]);
    }, 240_000);

    test("only its own key opens its door, and it sees no other socket", async () => {
      await start("one");
      await start("two");
      expect(await ask("two", "a", "/1")).toContain("answer");
      const { session_id: id } = await home.session("one");
      const other = (await proxy()).routes.find(({ sessionId }) => sessionId === id)?.key ?? "";
      expect(other).toHaveLength(43);
      for (const [file, way] of [
        ["other", `/${other}/own-model/1`],
        ["none", "/v1/models"],
        ["away", "http://127.0.0.1:1/"],
      ]) {
        await tell("two", `get ${way} >${file}.part; mv ${file}.part ${file}`);
        expect(await said(file ?? "")).toMatch(/^HTTP\/1.1 40[0-9]/);
      }
      await tell(
        "two",
        "{ ls /run/reeve-passage; touch /run/reeve-passage/x || echo refused; ls -d /*/capture.sock; } >d.part 2>/dev/null; mv d.part d",
      );
      expect(await said("d")).toBe("s\nrefused\n");
      expect(seen).toEqual(["GET /v1/1"]);
      for (const name of readdirSync(join(home.dir, "run", "box"))) {
        expect(statSync(join(home.dir, "run", "box", name)).mode & 0o777).toBe(0o700);
        expect(statSync(join(home.dir, "run", "box", name, "s")).mode & 0o777).toBe(0o600);
      }
    }, 180_000);

    test("what cannot work is refused before anything is made", async () => {
      const refused = async (...args: readonly string[]): Promise<string> => {
        const { status, stderr } = await home.run(["start", "command", ...PROXIED, workspace, ...args, "--", "sh"]);
        expect(status).not.toBe(0);
        return stderr;
      };
      expect(await refused("--image", SESSION_IMAGE)).toContain("has none of perl, python3, socat, node");
      expect(await refused("--persist-session", "--capture", "native")).toContain("leave --capture out");
      home.configure(`[docker]\nhost = "${engine.host}"\nimage = "${IMAGE}"\n`);
      await home.run(["daemon", "stop"]);
      expect(await refused()).toContain("[docker.upstreams]");
      expect(await home.list()).toEqual([]);
    }, 120_000);
  },
);
