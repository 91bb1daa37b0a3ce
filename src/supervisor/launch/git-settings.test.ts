import { expect, it } from "vitest";
import { defaultGitSettings } from "./git-settings.ts";
import { parseSettings } from "./settings.ts";

it("reads [git], and says what is wrong with it", () => {
  const text =
    '[git]\nworktrees_dir = "../trees"\nfetch = true\nsymlink_directories = ["node_modules", "a/b"]\ndisposable = ["target"]';
  expect(parseSettings(text).git).toEqual({
    ...defaultGitSettings,
    worktreesDir: "../trees",
    fetch: true,
    symlinkDirectories: ["node_modules", "a/b"],
    disposable: ["target"],
  });
  expect(parseSettings("").git).toEqual(defaultGitSettings);
  for (const [line, problem] of [
    ['worktrees_dir = ""', "[git] worktrees_dir must be a directory"],
    ['fetch = "yes"', "[git] fetch must be true or false"],
    ['symlink_directories = ["/etc"]', "[git] symlink_directories must be a list"],
    ['symlink_directories = ["a/../../b"]', "[git] symlink_directories must be a list"],
    ['disposable = ["a/b"]', "[git] disposable must be a list"],
    ["fetsh = true", "there is no setting fetsh in [git]"],
  ] as const)
    expect(() => parseSettings(`[git]\n${line}`)).toThrow(problem);
});
