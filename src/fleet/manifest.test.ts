import { describe, expect, it } from "vitest";
import { manifestJsonSchema } from "./manifest-schema.ts";
import { readManifest } from "./manifest.ts";

const looksSecret = (text: string): boolean => text.startsWith("ghp_");
const read = (text: string) => readManifest({ file: "/work/shop/reeve.toml", text, looksSecret });

/** `line:column code`, as they are found by whoever opens the file. */
const mistakesOf = (text: string) => read(text).mistakes.map(({ line, column, code }) => `${line}:${column} ${code}`);

const EXAMPLE = `[defaults]
agent = "codex"
restart = "on-failure"

[[sessions]]
id = "builder-1"
role = "builder"
branch = "feature/x"
worktree = true
prompt = "Build x"
env_file = ".env.builder"
key_file = { OPENAI_API_KEY = "keys/openai" }
tags = ["shop"]
timeouts = { turn = 600, idle = { after = 3600, then = "end" } }

[[sessions]]
id = "watch"
agent = "command"
command = ["npm", "run", "dev"]
branch = "main"
workspace = "web"
allow_shared_checkout = true

[[services]]
name = "chroma"
url = "http://localhost:8000/api/v2/heartbeat"

[work]
verify = ["npm", "test"]
`;

describe("readManifest", () => {
  it("applies the defaults, and resolves paths from the manifest", () => {
    const { sessions, services, verify, mistakes } = read(EXAMPLE);
    expect(mistakes).toEqual([]);
    expect(sessions.map(({ id, order, spec }) => ({ id, order, spec }))).toEqual([
      {
        id: "builder-1",
        order: 0,
        spec: {
          agent: "codex",
          restart: "on-failure",
          role: "builder",
          branch: "feature/x",
          workspace: "/work/shop",
          worktree: true,
          prompt: "Build x",
          env_file: "/work/shop/.env.builder",
          key_file: { OPENAI_API_KEY: "/work/shop/keys/openai" },
          tags: ["shop"],
          // oxlint-disable-next-line unicorn/no-thenable -- the key has this name
          timeouts: { turn: 600, idle: { after: 3600, then: "end" } },
        },
      },
      {
        id: "watch",
        order: 1,
        spec: {
          agent: "command",
          restart: "on-failure",
          command: ["npm", "run", "dev"],
          branch: "main",
          workspace: "/work/shop/web",
          allow_shared_checkout: true,
        },
      },
    ]);
    expect(services).toEqual([{ name: "chroma", url: "http://localhost:8000/api/v2/heartbeat" }]);
    expect(verify).toEqual(["npm", "test"]);
  });

  it("takes goal for prompt, and leaves out what only repeats a default", () => {
    const { sessions } = read(
      '[[sessions]]\nid = "a"\nagent = "x"\nbranch = "m"\ngoal = "Ship"\nworktree = false\ntags = []\nmcp = true\n',
    );
    expect(sessions[0]?.spec).toEqual({ agent: "x", branch: "m", workspace: "/work/shop", prompt: "Ship" });
  });

  it("tells all mistakes in one run, each with line and column", () => {
    const text = `colour = "red"

[defaults]
agent = "codex"
restrat = "never"

[[sessions]]
id = "Not A Word"
branch = "main"
restart = "sometimes"
promt = "hello"

[[sessions]]
id = "one"
timeouts = { turn = -1, trun = 5 }

[[sessions]]
  id = "one"
  branch = "main"
  prompt = "use ghp_nothing"
  model = "ghp_secret"
  env = { TOKEN = "x" }
  image = "box"
  base = "main"

[[sessions]]
branch = "main"
agent = "command"
args = ["a"]

[[sessions]]
id = "two"
branch = "main"
command = ["make"]
prompt = "a"
goal = "b"
mounts = ["nowhere"]
key_file = { "1X" = "key" }

[[services]]
name = "db"
url = "postgres"

[work]
verify = []
`;
    expect(mistakesOf(text)).toEqual([
      "1:1 unknown-key",
      "5:1 unknown-key",
      "8:6 bad-value",
      "10:11 bad-value",
      "11:1 unknown-key",
      "13:1 missing-branch",
      "15:21 bad-value",
      "15:25 unknown-key",
      "18:8 duplicate-id",
      "21:11 secret",
      "22:3 unknown-key",
      "23:3 needs-container",
      "24:3 needs-worktree",
      "26:1 missing-key",
      "28:1 missing-command",
      "29:1 args-of-command",
      "34:1 not-a-command",
      "36:1 prompt-and-goal",
      "37:1 needs-container",
      "37:11 bad-value",
      "38:14 bad-value",
      "42:7 bad-value",
      "45:10 bad-value",
    ]);
    expect(JSON.stringify(read(text))).not.toContain("ghp_secret");
  });

  it("names the nearest known key, and says what else is wrong in a sentence", () => {
    const { mistakes } = read(
      '[[sessions]]\nid = "a"\nagent = "codex"\nbranch = "m"\npromt = "x"\nrestart = 5\n[sessions.timeouts]\ntrun = 1\n',
    );
    expect(mistakes.map(({ message }) => message)).toEqual([
      'There is no key "promt" of a session; did you mean prompt?',
      "restart must be never, on-failure or always, not 5.",
      'There is no key "trun" of a session; did you mean turn?',
    ]);
  });

  it("tells a mistake of syntax with its place", () => {
    expect(mistakesOf("[defaults]\nagent = \n")).toEqual(["2:9 not-toml"]);
    expect(mistakesOf("")).toEqual(["1:1 no-sessions"]);
  });

  it("finds the place of a key that only the defaults have", () => {
    const { mistakes } = read('[defaults]\nimage = "box"\nagent = "x"\nbranch = "m"\n[[sessions]]\nid = "a"\n');
    expect(mistakes.map(({ line, code }) => [line, code])).toEqual([[2, "needs-container"]]);
  });

  it("lets a session whose role runs in containers say what its own gets", () => {
    const text = 'agent = "x"\nbranch = "m"\nresources = { pids = 60 }\n';
    const all = `[[sessions]]\nid = "a"\nrole = "boxed"\n${text}[[sessions]]\nid = "b"\nrole = "other"\n${text}`;
    const runtimeOf = (role: string) => (role === "boxed" ? "docker" : null);
    const { mistakes } = readManifest({ file: "/work/shop/reeve.toml", text: all, looksSecret, runtimeOf });
    expect(mistakes.map(({ line, code }) => [line, code])).toEqual([[12, "needs-container"]]);
  });
});

it("publishes every key with a description", () => {
  const undescribed: string[] = [];
  const walk = (schema: Record<string, unknown>, path: string): void => {
    for (const [key, value] of Object.entries(
      (schema["properties"] ?? {}) as Record<string, Record<string, unknown>>,
    )) {
      if (typeof value["description"] !== "string" && !path.endsWith("timeouts")) undescribed.push(`${path}.${key}`);
      walk(value, `${path}.${key}`);
      if (typeof value["items"] === "object") walk(value["items"] as Record<string, unknown>, `${path}.${key}`);
    }
  };
  walk(manifestJsonSchema() as Record<string, unknown>, "");
  expect(undescribed).toEqual([]);
});
