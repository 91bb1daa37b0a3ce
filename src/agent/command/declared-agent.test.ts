import { describe, expect, test } from "vitest";
import { makeContext, makeLaunch } from "../agent-fixture.ts";
import { readScreen } from "../screen-rules.ts";
import { declaredAgent, declaredRules } from "./declared-agent.ts";

const settings = { ready: "^>$", working: "^Thinking", waiting: String.raw`\(Y\)es/\(N\)o` };
const agent = declaredAgent("aider", ["aider", "--no-pretty"], settings);

describe("an agent that only the configuration knows", () => {
  test("runs its command with the user's arguments after it, and takes the prompt as a message", () => {
    const launch = makeLaunch({ args: ["--dark"], prompt: "hello" });
    expect(agent.plan(makeContext({ launch }))).toEqual({
      argv: ["aider", "--no-pretty", "--dark"],
      environment: {},
      files: [],
      nativeId: null,
      transcriptPath: null,
      observabilityReason: "A plain command writes no transcript; its screen is shown instead.",
      isPromptLeftOut: true,
      mode: {
        name: "screen",
        text: "Only its process and its screen can be seen; patterns say what the screen means.",
      },
      channel: null,
      statusDir: null,
    });
    expect(() => agent.plan(makeContext({ launch: makeLaunch({ model: "large" }) }))).toThrow(/leave --model out/);
  });

  test("knows turns only where it can tell working from ready", () => {
    const turns = (given: Readonly<Record<string, string>>) => declaredAgent("x", ["x"], given).capabilities.turns;
    expect([
      turns(settings),
      turns({ ready: "x" }),
      turns({ working: "x" }),
      turns({ waiting: "x" }),
      turns({}),
    ]).toEqual([true, false, false, false, false]);
  });

  test("takes messages when it is not busy; one without patterns always does", () => {
    const activities = ["starting", "working", "idle", "awaiting-approval", "awaiting-input", "unknown"] as const;
    expect(activities.filter((activity) => agent.accepts(activity))).toEqual([
      "idle",
      "awaiting-approval",
      "awaiting-input",
      "unknown",
    ]);
    expect(activities.every((activity) => declaredAgent("x", ["x"], {}).accepts(activity))).toBe(true);
  });

  test("is typed to like any program", () => {
    expect(agent.encode({ text: "a", submit: true })).toEqual([
      { type: "paste", text: "a" },
      { type: "key", key: "Enter" },
    ]);
    expect([agent.name, agent.interrupt]).toEqual(["aider", [{ type: "key", key: "Escape" }]]);
  });

  test.each([
    [
      [],
      {},
      "[agent.aider] of config.toml is not right: command is missing; give the program to run; fix it, then run: reeve daemon stop.",
    ],
    [
      ["aider"],
      { redy: "x" },
      "[agent.aider] of config.toml is not right: there is no setting redy, only ready, working, waiting; fix it, then run: reeve daemon stop.",
    ],
  ])("%j %j is refused", (command, given, message) => {
    const refused = expect.objectContaining({ code: "config-invalid", kind: "config", message });
    expect(() => declaredAgent("aider", command, given)).toThrow(refused);
  });
});

describe("its screen", async () => {
  const rules = await declaredRules("aider", settings);
  const read = (text: string) => readScreen(rules, { text, title: "" }, null)?.reading ?? null;

  test("working begins a turn, ready ends it, a question beats both", () => {
    expect(read("Thinking about it")).toMatchObject({ activity: "working", turn: { phase: "started" } });
    expect(read("Thinking\nCreate file? (Y)es/(N)o")).toMatchObject({ activity: "awaiting-input", asks: "(Y)es/(N)o" });
    expect(read("Hello.")).toBeNull();
  });

  test("a prompt that ends with a blank is found without it", () => {
    expect(read("Hello.\n> ")).toMatchObject({ activity: "idle", turn: { phase: "completed" } });
  });

  test("only its last lines count", () => {
    expect(read(`Thinking\n${"line\n".repeat(20)}`)).toBeNull();
  });

  test("patterns that are left out are no rules, and bad ones are named", async () => {
    expect((await declaredRules("aider", { ready: "x" })).map(({ name }) => name)).toEqual(["ready"]);
    expect(await declaredRules("aider", {})).toEqual([]);
    await expect(declaredRules("aider", { working: "(" })).rejects.toThrow(
      /^\[agent\.aider\] of config\.toml is not right: working "\(" is not a pattern: missing closing \)/,
    );
  });
});
