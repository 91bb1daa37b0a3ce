import { describe, expect, it } from "vitest";
import { commands } from "./commands.ts";
import { candidatesFor, protocol } from "./completion-candidates.ts";

const sessions = [
  { value: "builder", description: "claude, idle" },
  { value: "watch", description: "command, unknown" },
];
const work = [{ value: "work-k3v9xw2apq", description: "pending: Write the parser" }];
const candidates = (...words: string[]) => candidatesFor(commands, sessions, words, work);
const offered = (...words: string[]): string[] => candidates(...words).values.map(({ value }) => value);

describe("what is offered", () => {
  it.each<[string[], string[]]>([
    [["re"], ["resume", "restart", "restart-policy", "rename", "resume-all", "recover"]],
    [["comp"], ["completion"]],
    [
      ["data", ""],
      ["builder", "watch"],
    ],
    [["approve", "b"], ["builder"]],
    [["wait", "builder", "w"], ["watch"]],
    [["work", "show", "w"], ["work-k3v9xw2apq"]],
    [["work", "add", "x", "--depends-on", ""], ["work-k3v9xw2apq"]],
    [["work", "add", ""], []],
    [["work", "show", "work-k3v9xw2apq", ""], []],
    [
      ["work", "show", "--"],
      ["--idempotency-key", "--json", "--help"],
    ],
    [["work", "add", "x", "--pr"], ["--priority"]],
    [["work", "list", "--pr"], []],
    [["work", "--st"], ["--state"]],
    [["mail", "send", "b"], ["builder"]],
    [["mail", "read", "b"], []],
    [["start", "--work=w"], ["--work=work-k3v9xw2apq"]],
    [
      ["work", "re"],
      ["request-changes", "retry", "release"],
    ],
    [["send", "builder", "--st"], ["--steer"]],
    [["send", "builder", "--steer", "--st"], []],
    [["end", "--wh"], ["--when"]],
    [
      ["end", "--when", ""],
      ["now", "after-turn"],
    ],
    [["end", "--when=a"], ["--when=after-turn"]],
    [["end", "--when", "now", "w"], ["watch"]],
    [["--json", "end", "w"], ["watch"]],
    [
      ["daemon", "st"],
      ["start", "stop", "status"],
    ],
    [["wait", "builder", "--for", "turn-c"], ["turn-completed"]],
    [["wait", "builder", "--for", "turn-completed", "--fo"], ["--for"]],
    [["help", "exit"], ["exit-codes"]],
    [["send", "builder", "--", "--st"], []],
    [["data", "--", "b"], ["builder"]],
    [["nonsense", ""], []],
  ])("%j: %j", (words, values) => {
    expect(offered(...words)).toEqual(values);
  });
});

describe("where a path belongs", () => {
  it.each<[string[], string]>([
    [["send", "builder", "--file", ""], "file"],
    [["send", "builder", "--file=no"], "file"],
    [["start", "practice", "--cwd", "s"], "directory"],
    [["start", "practice", "--env-file", ""], "file"],
    [["start", "command", "--", ""], "file"],
    [["start", "command", "--name", "x", "--", "make", "--fi"], "file"],
    [["start", "practice", ""], "none"],
    [["data", ""], "none"],
  ])("%j: %s", (words, paths) => {
    expect(candidates(...words)).toEqual({ values: paths === "none" ? expect.anything() : [], paths });
  });
});

it("is told to the scripts line by line", () => {
  expect(protocol(candidates("data", ""))).toBe("none\nbuilder\tclaude, idle\nwatch\tcommand, unknown\n");
  expect(protocol(candidates("start", "command", "--", ""))).toBe("file\n");
});
