/**
 * A Codex that only sits there, in hooks mode: what its hooks and its rollout
 * would say is written by the test, line by line and byte by byte. The real
 * one is in test/real-agents.
 */
import { appendFileSync, existsSync, mkdirSync, renameSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { askSession } from "./ask-daemon.ts";
import { eventually } from "./eventually.ts";
import type { TestHome } from "./test-home.ts";

const PROGRAM = `#!/bin/sh
[ "$1" = --version ] && echo "codex-cli 0.166.0" && exit
exec sleep 100000
`;

export interface StandInCodex {
  /** For config.toml. */
  readonly toml: string;
  readonly thread: string;
  readonly rolloutPath: string;
  /** Where its hooks leave their records, once it was started. */
  spool(): string;
  /** Leaves a hook's record in the session's spool. */
  hook(event: string, fields?: Readonly<Record<string, unknown>>): void;
  /** Appends one event to the rollout. */
  event(type: string, payload?: Readonly<Record<string, unknown>>): void;
  /** Appends one item of the conversation to the rollout. */
  item(payload: Readonly<Record<string, unknown>>): void;
  /** Appends the lines of a whole turn, from the prompt to the answer. */
  turn(id: string, prompt: string, answer: string): void;
  /** Starts it, with a first prompt that it has taken when this resolves. */
  start(name: string, ...options: readonly string[]): Promise<void>;
}

export function standInCodex(home: TestHome): StandInCodex {
  const program = join(home.dir, "stand-in", "codex");
  const thread = crypto.randomUUID();
  const rolloutPath = join(
    home.dir,
    "stand-in",
    "sessions",
    "2026",
    "11",
    "15",
    `rollout-2026-11-15T23-07-46-${thread}.jsonl`,
  );
  mkdirSync(dirname(rolloutPath), { recursive: true });
  if (!existsSync(program)) writeFileSync(program, PROGRAM, { mode: 0o755 });
  let spool = "";
  let count = 0;

  const append = (type: string, payload: object): void =>
    appendFileSync(rolloutPath, `${JSON.stringify({ timestamp: new Date().toISOString(), type, payload })}\n`);
  const codex: StandInCodex = {
    toml: `[agent.codex]\ncommand = "${program}"\nmode = "hooks"\n`,
    thread,
    rolloutPath,
    spool: () => spool,
    async start(name, ...options) {
      const args = ["start", "codex", "--name", name, ...options, "go"];
      const { outputs_dir } = await home.json<{ outputs_dir: string }>(...args);
      spool = join(outputs_dir, "spool");
      await eventually("it runs", async () => (await askSession(home, name))?.state === "running");
      codex.hook("SessionStart");
      codex.hook("UserPromptSubmit", { turn_id: "t1", prompt: "go" });
      await eventually("its turn is known", async () => (await askSession(home, name))?.["turns"] === 1);
    },
    hook(event, fields = {}) {
      const name = `${String(++count).padStart(6, "0")}-stand-in.json`;
      const record = { hook_event_name: event, session_id: thread, transcript_path: rolloutPath, ...fields };
      mkdirSync(spool, { recursive: true });
      writeFileSync(join(spool, `.${name}`), JSON.stringify(record));
      renameSync(join(spool, `.${name}`), join(spool, name));
    },
    event: (type, payload = {}) => append("event_msg", { type, ...payload }),
    item: (payload) => append("response_item", payload),
    turn(id, prompt, answer) {
      codex.event("task_started", { turn_id: id });
      codex.event("user_message", { message: prompt, turn_id: id });
      codex.item({ type: "message", role: "assistant", content: [{ type: "output_text", text: answer }] });
      codex.event("task_complete", { turn_id: id, last_agent_message: answer });
    },
  };
  return codex;
}
