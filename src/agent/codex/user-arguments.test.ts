import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { ReeveError } from "../../platform/reeve-error.ts";
import { readUserArguments, type UserArguments } from "./user-arguments.ts";

const NOTHING: UserArguments = { all: [], server: [], tui: [], extraRoots: [], undivided: null };

describe("readUserArguments", () => {
  const cases: readonly (readonly [args: readonly string[], expected: Partial<UserArguments>])[] = [
    [[], {}],
    [["-c", "a.b=1"], { server: ["-c", "a.b=1"] }],
    [["--config=tui.theme=x"], { server: ["-c", "tui.theme=x"], tui: ["-c", "tui.theme=x"] }],
    [["-s", "read-only"], { server: ["-c", 'sandbox_mode="read-only"'] }],
    [["-sread-only"], { server: ["-c", 'sandbox_mode="read-only"'] }],
    [["--ask-for-approval=never"], { server: ["-c", 'approval_policy="never"'] }],
    [["--model", 'a"b'], { server: ["-c", 'model="a\\"b"'] }],
    [["--search"], { server: ["-c", 'web_search="live"'] }],
    [["--yolo"], { server: ["-c", 'approval_policy="never"', "-c", 'sandbox_mode="danger-full-access"'] }],
    [["--add-dir", "/a", "--add-dir=/b"], { extraRoots: ["/a", "/b"] }],
    [["-i", "a.png", "b.png", "--no-alt-screen"], { tui: ["--image", "a.png", "--image", "b.png", "--no-alt-screen"] }],
    [["--enable", "x", "--strict-config"], { server: ["--enable", "x", "--strict-config"], tui: ["--strict-config"] }],
    [["--profile", "work"], { undivided: "--profile" }],
    [["-p", "work", "--oss"], { undivided: "--profile" }],
    [["--new-flag", "-s", "read-only"], { undivided: "--new-flag", server: ["-c", 'sandbox_mode="read-only"'] }],
  ];
  test.each(cases)("%j", (args, expected) => {
    expect(readUserArguments(args)).toEqual({ ...NOTHING, all: args, ...expected });
  });

  test("what Reeve does anyway is dropped", () => {
    expect(readUserArguments(["--no-daemon"])).toEqual(NOTHING);
  });

  test.each([["exec"], ["--"], ["a prompt"], ["-C"], ["--cd=/x"], ["--remote"], ["--last"], ["-h"], ["-m"]])(
    "%s is refused with advice",
    (argument) => {
      expect(() => readUserArguments([argument])).toThrow(ReeveError);
    },
  );

  test("any arguments are read or refused", () => {
    const argument = fc.oneof(
      fc.string(),
      fc.constantFrom("-c", "-i", "-s", "--image", "--add-dir", "--profile", "-p"),
    );
    fc.assert(
      fc.property(fc.array(argument), (args) => {
        try {
          expect(readUserArguments(args).all.length).toBeLessThanOrEqual(args.length);
        } catch (error) {
          expect(error).toBeInstanceOf(ReeveError);
        }
      }),
    );
  });
});
