/**
 * The real agents in containers that reach their model and nothing else: a turn, an approval, an
 * interruption and a resumed conversation, each with the words and states that it has on the machine itself.
 */
import { appendFileSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { listProcesses, readCommandLine } from "../../src/platform/process-table.ts";
import { type AgentCase, CASES, createRig, type Rig } from "../real-agents/rig.ts";
import { AGENT_MOUNTS, AGENTS_IMAGE, agentsImageArchive } from "../support/agents-image.ts";
import { type DockerEngine, engineImpediment, startDockerEngine } from "../support/docker-engine.ts";
import { eventually } from "../support/eventually.ts";
import { filesHolding } from "../support/files-holding.ts";

const impediment = engineImpediment();
/** With what it logs in by, and what says where it does. */
const NOT_GIVEN = /^(?:PATH|HOME)$|_KEY$|_BASE_URL$/;
/** The same person has them for other agents. */
const OTHER_KEYS = { OPENAI_API_KEY: "another-agents-dummy", AWS_SECRET_ACCESS_KEY: "another-agents-dummy" };
const agents: readonly AgentCase[] = [{ ...CASES.codexHooks, title: "codex", config: "" }, CASES.claude, CASES.gemini];

describe.skipIf(impediment !== null)(
  `agents in containers${impediment === null ? "" : ` (skipped: ${impediment})`}`,
  () => {
    let engine: DockerEngine;
    let listener: Server;
    beforeAll(async () => {
      listener = createServer().listen(0, "127.0.0.1");
      engine = await startDockerEngine({ liveRestore: true });
      await engine.importImage(agentsImageArchive(), AGENTS_IMAGE);
    }, 240_000);
    afterAll(async () => {
      listener.close();
      await engine.dispose();
    }, 60_000);

    test.each(agents)(
      "$title: a turn, an approval, an interruption, a resume; nothing else is reached",
      async (agentCase) => {
        const rig = await createRig(agentCase, {
          config: `[docker]\nhost = "${engine.host}"\nimage = "${AGENTS_IMAGE}"\n`,
        });
        try {
          await live(rig, agentCase);
        } finally {
          await rig.dispose();
        }
      },
      400_000,
    );

    /** What the agent has to log in by is nowhere but in its memory and its environment. */
    async function isKept(key: string, { home }: Rig): Promise<void> {
      expect(key).toContain("dummy");
      const [container] = (await engine.call("GET", "/containers/json")).body as readonly { readonly Id: string }[];
      const id = container?.Id ?? "";
      for (const path of [`containers/${id}/json`, `images/${AGENTS_IMAGE}/json`, `images/${AGENTS_IMAGE}/history`]) {
        const { status, body } = await engine.call("GET", `/${path}`);
        expect(status).toBe(200);
        expect(JSON.stringify(body)).not.toContain(key);
      }
      expect(filesHolding(join(engine.socket, "..", "data", "containers"), [key])).toEqual([]);
      // Codex itself writes its environment into its home, in a container or not.
      const files = filesHolding(home.dir, [key]).filter(
        (path) => !path.includes("/agent-home/.codex/shell_snapshots/"),
      );
      expect(files).toEqual([]);
      const lines = listProcesses().filter(({ pid }) => readCommandLine(pid).includes(key));
      expect(lines.map(({ pid }) => readCommandLine(pid))).toEqual([]);
    }

    async function live(rig: Rig, { agent }: AgentCase): Promise<void> {
      const probe = join(rig.workDir, "probe");
      const { port } = listener.address() as { readonly port: number };
      const elsewhere = [`127.0.0.1/${port}`, "192.0.2.1/443", "model.example/443"];
      const tries = elsewhere.map((to) => `(exec 3<>/dev/tcp/${to}) 2>/dev/null && echo open || echo closed`);
      const kept = [rig.home.dir, join(rig.user.dir, "private")].map(
        (path) => `ls ${path}/run >/dev/null 2>&1 && echo seen`,
      );
      writeFileSync(
        probe,
        `#!/bin/bash\n{ ${[...tries, ...kept, "env | grep another-agents", "true"].join("; ")}; } >found.part; mv found.part found\n`,
        {
          mode: 0o755,
        },
      );
      if (agent === "codex") {
        mkdirSync(join(rig.user.dir, ".codex", "rules"), { recursive: true });
        appendFileSync(
          join(rig.user.dir, ".codex", "rules", "default.rules"),
          `prefix_rule(pattern=["./probe"], decision="prompt")\n`,
        );
      }
      // What it logs in by is in the caller's environment alone, as most people have it.
      const given = Object.entries(rig.user.environment).filter(([name]) => !NOT_GIVEN.test(name));
      const options = [
        "--runtime",
        "docker",
        "--network",
        "proxy",
        ...AGENT_MOUNTS,
        ...given.flatMap(([name, value]) => ["--env", `${name}=${value}`]),
      ];
      const started = await rig.start("[[say the secret word is heron]]", { options, environment: OTHER_KEYS });
      const { session_id: id } = started;
      expect(await rig.wait(id, "--since", "0", "--for", "turn-completed")).toMatchObject({
        done: true,
      });
      const first = await rig.data(id);
      expect(first.source).toBe("transcript");
      expect(first.messages?.at(-1)).toMatchObject({ role: "assistant", text: "the secret word is heron" });

      const key = Object.entries(rig.user.environment).find(([name]) => name.endsWith("_KEY"))?.[1] ?? "";
      await isKept(key, rig);

      const asking = await rig.home.json<{ cursor: number }>("send", id, "[[shell ./probe]] [[say looked]]");
      expect(await rig.wait(id, "--since", String(asking.cursor), "--for", "awaiting-approval")).toMatchObject({
        done: true,
      });
      expect(existsSync(join(rig.workDir, "found"))).toBe(false);
      const cursor = await rig.cursor(id);
      expect(await rig.home.json("approve", id)).toMatchObject({ state: "settled", decision: "approved" });
      expect(await rig.wait(id, "--since", cursor, "--for", "turn-completed")).toMatchObject({ done: true });
      expect(readFileSync(join(rig.workDir, "found"), "utf8")).toBe("closed\n".repeat(elsewhere.length));
      expect(statSync(join(rig.workDir, "found")).uid).toBe(process.getuid?.());

      await rig.home.json("send", id, "[[delay 300s]] [[say too late]]");
      await eventually(
        "the model works on it",
        () => rig.asked().some(({ prompt, outcome }) => prompt.includes("too late") && outcome === undefined),
        60_000,
      );
      const instead = await rig.home.json<{ cursor: number }>(
        "send",
        id,
        "[[say instead]]",
        "--interrupt",
        "--timeout",
        "60",
      );
      expect(await rig.wait(id, "--since", String(instead.cursor), "--for", "turn-completed")).toMatchObject({
        done: true,
      });
      expect((await rig.events(id)).map(({ type }) => type)).toContain("turn-interrupted");

      await rig.restart(id);
      await eventually("it is ready again", async () => (await rig.home.session(id))["activity"] === "idle", 120_000);
      const again = await rig.home.json<{ cursor: number }>("send", id, "[[say still here]]", "--timeout", "60");
      expect(await rig.wait(id, "--since", String(again.cursor), "--for", "turn-completed")).toMatchObject({
        done: true,
      });
      const last = rig.asked().at(-1);
      expect(last?.messages.some(({ text }) => text.includes("the secret word is heron"))).toBe(true);
      const after = await rig.data(id);
      expect(after.session.observability.native_id).toBe(first.session.observability.native_id);
      // What it wrote is the user's, in the session's own directory.
      const { transcript_path: path } = after.session.observability;
      expect(path).toMatch(/\/agent-home\//);
      expect(statSync(path ?? "").uid).toBe(process.getuid?.());
      await rig.home.json("end", id, "--when", "now");
      expect(rig.home.marked(id)).toEqual([]);
    }
  },
);
