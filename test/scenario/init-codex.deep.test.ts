/**
 * `reeve init codex` in repositories with awkward contents: one line
 * and one card, nothing else, twice is once, and --undo gives back every byte.
 */
import { execFile, execFileSync } from "node:child_process";
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  CARD_BUDGET_BYTES,
  isUneditedCard,
  RESTART_CARD,
  TRIGGER_BUDGET_BYTES,
  TRIGGER_LINE,
} from "../../src/surface/cli/init/restart-card-text.ts";

const LAUNCHER = join(import.meta.dirname, "..", "..", "bin", "reeve");
const CARD = ".codex/HARNESS_RESTART.md";
const CODEX = ".codex/CODEX.md";
let home: string;
let count = 0;

beforeAll(() => {
  home = realpathSync(mkdtempSync(join(tmpdir(), "reeve-init-")));
});
afterAll(() => rmSync(home, { recursive: true, force: true }));

interface Answer {
  readonly done?: boolean;
  readonly changes?: readonly string[];
  readonly notes?: readonly string[];
  readonly error?: { readonly code: string; readonly message: string };
}

interface Repository {
  readonly root: string;
  git(...words: readonly string[]): string;
  write(path: string, content: string | Buffer): void;
  read(path: string): Buffer;
  /** Every path with its kind, permissions and content; without what belongs to git. */
  everything(): Readonly<Record<string, string>>;
  init(...words: readonly string[]): Promise<Answer>;
}

function repositoryIn(root: string): Repository {
  const environment = {
    PATH: `${dirname(process.execPath)}:/usr/bin:/bin`,
    HOME: join(home, "user"),
    REEVE_HOME: join(home, "reeve"),
    GIT_CONFIG_NOSYSTEM: "1",
    NODE_NO_WARNINGS: "1",
    GIT_ALLOW_PROTOCOL: "file",
    ...Object.fromEntries(
      ["AUTHOR", "COMMITTER"].flatMap((who) => [
        [`GIT_${who}_NAME`, "Somebody"],
        [`GIT_${who}_EMAIL`, "somebody@example.invalid"],
      ]),
    ),
  };
  const repository: Repository = {
    root,
    git: (...words) =>
      execFileSync("git", ["-C", root, ...words], {
        env: environment,
        encoding: "utf8",
        stdio: ["ignore", "pipe", "pipe"],
      }),
    write(path, content) {
      mkdirSync(dirname(join(root, path)), { recursive: true });
      writeFileSync(join(root, path), content);
    },
    read: (path) => readFileSync(join(root, path)),
    everything: () => Object.fromEntries(entriesBelow(root, "")),
    init: (...words) =>
      new Promise((resolve) => {
        execFile(
          process.execPath,
          [LAUNCHER, "init", "codex", "--yes", "--json", ...words],
          { env: environment, cwd: root },
          (_error, stdout) => resolve(JSON.parse(stdout) as Answer),
        );
      }),
  };
  return repository;
}

function createRepository(files: Readonly<Record<string, string | Buffer>> = {}): Repository {
  const root = join(home, `repository-${(count += 1)}`);
  mkdirSync(root);
  const repository = repositoryIn(root);
  repository.git("init", "--quiet", "--initial-branch=main");
  for (const [path, content] of Object.entries({ "AGENTS.md": "Be kind.\n", ...files }))
    repository.write(path, content);
  commit(repository);
  return repository;
}

function commit({ git }: Repository): void {
  git("add", "--all");
  git("commit", "--quiet", "--message", "As it was");
}

function entriesBelow(root: string, path: string): readonly (readonly [string, string])[] {
  return readdirSync(join(root, path)).flatMap((name) => {
    const inner = join(path, name);
    const found = lstatSync(join(root, inner));
    if (name === ".git") return [];
    if (found.isSymbolicLink()) return [[inner, `link ${readlinkSync(join(root, inner))}`] as const];
    if (found.isDirectory()) return entriesBelow(root, inner);
    return [[inner, `${found.mode.toString(8)} ${readFileSync(join(root, inner), "latin1")}`] as const];
  });
}

const changed = (before: object, after: object): readonly string[] =>
  Object.keys(after)
    .filter((path) => Reflect.get(before, path) !== Reflect.get(after, path))
    .toSorted();

const triggers = (content: Buffer): number =>
  content
    .toString("latin1")
    .split(/\r?\n/)
    .filter((line) => line.replace(/^\u00ef\u00bb\u00bf/, "") === TRIGGER_LINE).length;

describe("reeve init codex", { timeout: 120_000 }, () => {
  const contents: readonly (readonly [string, Readonly<Record<string, string | Buffer>>])[] = [
    ["no .codex at all", {}],
    ["an empty CODEX.md", { [CODEX]: "" }],
    ["a CODEX.md with a title and text", { [CODEX]: "# Codex\n\nAlways test.\n" }],
    ["CRLF", { [CODEX]: "# Codex\r\n\r\nAlways test.\r\n" }],
    [
      "CRLF that git keeps as LF",
      { ".gitattributes": "*.md text eol=crlf\n", [CODEX]: "# Codex\r\n\r\nAlways test.\r\n" },
    ],
    ["no final newline", { [CODEX]: "# Codex\n\nAlways test." }],
    ["one line without an end", { [CODEX]: "Always test." }],
    ["front matter, no final newline", { [CODEX]: "---\nname: codex\n---\nAlways test.\nAlways." }],
    ["a byte order mark", { [CODEX]: "\ufeff# Codex\nAlways test.\n" }],
    ["bytes that are no UTF-8", { [CODEX]: Buffer.from([0x23, 0x20, 0xe9, 0xff, 0x0a]) }],
    ["blank lines at the end", { [CODEX]: "# Codex\n\n\n" }],
    ["other files in .codex", { ".codex/config.toml": 'model = "x"\n', ".codex/hooks.json": "{}\n" }],
  ];

  it.each(contents)(
    "%s: one line, one card, nothing else; twice is once; undo restores the bytes",
    async (_, files) => {
      const repository = createRepository(files);
      const before = repository.everything();

      expect(await repository.init("--project")).toMatchObject({ done: true, changes: [anyText(), anyText()] });
      const after = repository.everything();
      expect(changed(before, after)).toEqual([CODEX, CARD].toSorted());
      expect(triggers(repository.read(CODEX))).toBe(1);
      expect(repository.read(CARD).toString("utf8")).toBe(RESTART_CARD);
      repository.git("add", "--intent-to-add", ".codex");
      expect(repository.git("diff", "--check")).toBe("");
      const hadMarkOnly = _ === "a byte order mark";
      if (!hadMarkOnly && CODEX in files)
        expect(repository.git("diff", "--numstat", "--", CODEX).split("\t").slice(0, 2)).toEqual(["1", "0"]);

      expect(await repository.init("--project")).toMatchObject({ done: true, changes: [] });
      expect(repository.everything()).toEqual(after);

      expect(await repository.init("--project", "--undo")).toMatchObject({
        done: true,
        changes: [anyText(), anyText()],
      });
      expect(repository.everything()).toEqual(before);
      expect(await repository.init("--project", "--undo")).toMatchObject({ done: true, changes: [] });
      expect(repository.everything()).toEqual(before);
    },
  );

  it("a line of the user's that points to the card is the one line", async () => {
    const repository = createRepository({ [CODEX]: "After a restart see `.codex/HARNESS_RESTART.md`.\n" });
    const before = repository.everything();
    const made = await repository.init("--project");
    expect(made).toMatchObject({ done: true, changes: [expect.stringContaining(CARD) as unknown] });
    expect(made.notes).toContainEqual(expect.stringContaining("in other words") as unknown);
    expect(changed(before, repository.everything())).toEqual([CARD]);
    await repository.init("--project", "--undo");
    expect(repository.everything()).toEqual(before);
  });

  it("an edited card is kept, and said so, both ways; an unedited one of another version is replaced", async () => {
    const repository = createRepository();
    await repository.init("--project");
    repository.write(CARD, `${RESTART_CARD}8. And ask me.\n`);
    const edited = repository.read(CARD);
    const again = await repository.init("--project");
    expect(again).toMatchObject({ done: true, changes: [] });
    expect(again.notes).toContainEqual(expect.stringContaining("was edited, so it stays") as unknown);
    const undone = await repository.init("--project", "--undo");
    expect(undone.changes).toHaveLength(1);
    expect(undone.notes).toContainEqual(expect.stringContaining("was edited, so it stays") as unknown);
    expect(repository.read(CARD)).toEqual(edited);

    expect(isUneditedCard(RESTART_CARD.replaceAll("\n", "\r\n"))).toBe(true);
    expect(isUneditedCard(RESTART_CARD.replace("Unread", "Read"))).toBe(false);
  });

  it.each([
    ["CODEX.md", (root: string) => chmodSync(join(root, CODEX), 0o444)],
    ["its directory", (root: string) => chmodSync(join(root, ".codex"), 0o555)],
  ])("a read-only %s is refused, and nothing is changed", async (_, lock) => {
    const repository = createRepository({ [CODEX]: "# Codex\n" });
    lock(repository.root);
    const before = repository.everything();
    const refused = await repository.init("--project");
    expect(refused.error).toMatchObject({
      code: "read-only",
      message: expect.stringContaining("nothing was changed") as unknown,
    });
    expect(repository.everything()).toEqual(before);
    chmodSync(join(repository.root, ".codex"), 0o755);
  });

  it("a link inside the repository is followed and stays a link", async () => {
    const repository = createRepository({ "docs/codex.md": "# Codex\n" });
    mkdirSync(join(repository.root, ".codex"));
    symlinkSync("../docs/codex.md", join(repository.root, CODEX));
    commit(repository);
    const before = repository.everything();
    expect(await repository.init("--project")).toMatchObject({ done: true });
    expect(changed(before, repository.everything())).toEqual([CARD, "docs/codex.md"].toSorted());
    expect(repository.read("docs/codex.md").toString("utf8")).toBe(`# Codex\n${TRIGGER_LINE}\n`);
    await repository.init("--project", "--undo");
    expect(repository.everything()).toEqual(before);
  });

  it.each([
    ["to AGENTS.md", CODEX, "../AGENTS.md"],
    ["out of the repository", CODEX, "../../elsewhere.md"],
    ["to nothing", CODEX, "nothing.md"],
    [".codex out of the repository", ".codex", "../elsewhere"],
  ])("a link %s is refused, and nothing is changed", async (_, path, target) => {
    const repository = createRepository();
    mkdirSync(join(home, "elsewhere"), { recursive: true });
    writeFileSync(join(home, "elsewhere.md"), "# Mine\n");
    mkdirSync(dirname(join(repository.root, path)), { recursive: true });
    symlinkSync(target, join(repository.root, path));
    const before = repository.everything();
    expect((await repository.init("--project")).error).toMatchObject({ code: "linked-file" });
    expect(repository.everything()).toEqual(before);
    expect(readdirSync(join(home, "elsewhere"))).toEqual([]);
    expect(readFileSync(join(home, "elsewhere.md"), "utf8")).toBe("# Mine\n");
  });

  it("a submodule gets its own card, and the repository around it none", async () => {
    const inner = createRepository({ [CODEX]: "# Inner\n" });
    const outer = createRepository();
    outer.git("submodule", "--quiet", "add", inner.root, "inner");
    commit(outer);
    const before = outer.everything();
    const submodule = repositoryIn(join(outer.root, "inner"));
    expect(await submodule.init("--project")).toMatchObject({ done: true });
    expect(changed(before, outer.everything())).toEqual([`inner/${CODEX}`, `inner/${CARD}`].toSorted());
    expect(submodule.git("diff", "--check")).toBe("");
    await submodule.init("--project", "--undo");
    expect(outer.everything()).toEqual(before);
    expect(outer.git("status", "--porcelain")).toBe("");
  });

  it("from a directory below it is the repository's top that gets it, also without a codex on the PATH", async () => {
    const repository = createRepository({ "src/a.ts": "" });
    const made = await repositoryIn(join(repository.root, "src")).init();
    expect(made).toMatchObject({ done: true, changes: [anyText(), anyText()] });
    expect(made.notes).toContainEqual(expect.stringContaining("no program") as unknown);
    expect(triggers(repository.read(CODEX))).toBe(1);
  });

  it("outside of a repository there is nothing to write", async () => {
    const plain = repositoryIn(join(home, `plain-${(count += 1)}`));
    mkdirSync(plain.root);
    expect((await plain.init("--project")).error).toMatchObject({ code: anyText() });
    expect(plain.everything()).toEqual({});
    // While Codex runs a command in its sandbox, there is one in each directory that the command may write to.
    mkdirSync(join(plain.root, ".git"));
    expect((await plain.init("--project")).error).toMatchObject({ code: anyText() });
    expect(plain.everything()).toEqual({});
  });

  it("says whether a hook loads CODEX.md, and when what is always loaded is too long", async () => {
    const silent = expect.stringContaining("No hook loads") as unknown;
    const long = expect.stringContaining("keep it below") as unknown;
    const bare = createRepository({ [CODEX]: `${"Always test. ".repeat(700)}\n` });
    const { notes } = await bare.init("--project");
    expect(notes).toContainEqual(silent);
    expect(notes).toContainEqual(long);

    const hooks = {
      hooks: { UserPromptSubmit: [{ hooks: [{ type: "command", command: "sh .codex/hooks/load.sh" }] }] },
    };
    const hooked = createRepository({
      ".codex/hooks.json": JSON.stringify(hooks),
      ".codex/hooks/load.sh": "cat .codex/CODEX.md\n",
    });
    expect((await hooked.init("--project")).notes).toEqual([]);
  });

  it("keeps its own texts short", () => {
    expect(Buffer.byteLength(TRIGGER_LINE)).toBeLessThanOrEqual(TRIGGER_BUDGET_BYTES);
    expect(Buffer.byteLength(RESTART_CARD)).toBeLessThanOrEqual(CARD_BUDGET_BYTES);
  });
});

function anyText(): unknown {
  return expect.any(String) as unknown;
}
