/**
 * Submodules of a worktree. They are filled from what the main checkout has of
 * them, without the network; git keeps a repository of its own for each, inside
 * the worktree's git directory, so what is committed there is looked at before
 * a worktree is removed.
 */
import { join } from "node:path";
import { lines } from "../../fleet/git-output.ts";
import { listed } from "../../fleet/worktree-judgement.ts";
import { LONG_MS, lastWords, type Tool } from "./repository.ts";

interface Submodule {
  readonly name: string;
  readonly path: string;
  readonly isFilled: boolean;
}

export async function fillSubmodules(
  tool: Tool,
  {
    main,
    path,
    repository,
    fetch,
  }: { readonly main: string; readonly path: string; readonly repository: string; readonly fetch: boolean },
): Promise<readonly string[]> {
  const empty: string[] = [];
  const notes: string[] = [];
  for (const submodule of await submodulesOf(tool, path)) {
    if (submodule.isFilled) continue;
    const local = join(repository, "modules", submodule.name);
    const isLocal = (await tool.files.stat(join(local, "objects")))?.isDirectory === true;
    if (!isLocal && !fetch) {
      empty.push(submodule.path);
      continue;
    }
    const url = await tool.maybe(main, ["config", `submodule.${submodule.name}.url`]);
    const from =
      isLocal && url !== null
        ? ["-c", "protocol.file.allow=always", "-c", `submodule.${submodule.name}.url=${local}`]
        : [];
    const args = [
      ...from,
      "submodule",
      "--quiet",
      "update",
      ...(from.length > 0 ? [] : ["--init"]),
      "--",
      submodule.path,
    ];
    const said = await tool.run(path, args, { timeoutMs: LONG_MS });
    if (said.status !== 0) notes.push(`The submodule ${submodule.path} is empty: ${lastWords(said.stderr)}.`);
    // It was cloned from here; what is pushed goes where the main checkout's goes.
    else if (url !== null && from.length > 0)
      await tool.maybe(join(path, submodule.path), ["remote", "set-url", "origin", url]);
  }
  if (empty.length > 0)
    notes.push(
      `Submodules are empty: ${listed(empty)}. Fill them with git submodule update --init, or start with --fetch.`,
    );
  return notes;
}

/** What would be lost with them, a sentence each; empty: nothing. */
export async function submoduleProblems(tool: Tool, path: string): Promise<readonly string[]> {
  const problems: string[] = [];
  for (const { path: sub, isFilled } of await submodulesOf(tool, path)) {
    if (!isFilled) continue;
    const where = join(path, sub);
    const status = await tool.maybe(where, [
      "status",
      "--porcelain",
      "-z",
      "--untracked-files=all",
      "--ignored=matching",
      "--ignore-submodules=none",
    ]);
    if (status !== "") problems.push(`The submodule ${sub} has changes or files of its own.`);
    const unpushed = await tool.maybe(where, [
      "rev-list",
      "--count",
      "HEAD",
      "--branches",
      "--tags",
      "--reflog",
      "--not",
      "--remotes",
    ]);
    if (unpushed !== "0")
      problems.push(
        `The submodule ${sub} has ${unpushed === null ? "commits that could not be read" : "commits that are not pushed"}.`,
      );
    if ((await tool.maybe(where, ["rev-parse", "--verify", "--quiet", "refs/stash"])) !== null)
      problems.push(`The submodule ${sub} has a stash.`);
    problems.push(...(await submoduleProblems(tool, where)));
  }
  return problems;
}

export async function hasSubmodules(tool: Tool, path: string): Promise<boolean> {
  return (await gitlinks(tool, path)).length > 0 || (await hasModules(tool, path));
}

/** Git keeps them there also after the submodule itself was taken out. */
async function hasModules(tool: Tool, path: string): Promise<boolean> {
  const directory = await tool.maybe(path, ["rev-parse", "--path-format=absolute", "--git-dir"]);
  return directory !== null && (await tool.files.list(join(directory, "modules"))).length > 0;
}

async function gitlinks(tool: Tool, path: string): Promise<readonly string[]> {
  const staged = (await tool.text(path, ["ls-files", "-z", "--stage"])).split("\0");
  return staged.flatMap((line) => (line.startsWith("160000 ") ? [line.slice(line.indexOf("\t") + 1)] : []));
}

async function submodulesOf(tool: Tool, path: string): Promise<readonly Submodule[]> {
  const links = await gitlinks(tool, path);
  if (links.length === 0) return [];
  const named = lines((await tool.maybe(path, ["config", "--file", ".gitmodules", "--get-regexp", "\\.path$"])) ?? "");
  const names = new Map(
    named.map((line) => {
      const space = line.indexOf(" ");
      return [line.slice(space + 1), line.slice("submodule.".length, space - ".path".length)] as const;
    }),
  );
  return await Promise.all(
    links.map(async (link) => ({
      name: names.get(link) ?? link,
      path: link,
      isFilled: (await tool.files.stat(join(path, link, ".git"))) !== null,
    })),
  );
}
