/**
 * Taking the registration back gives the very bytes, whatever the agent's own command made of the file. The programs here
 * play that command at its worst: they write the file anew, without its comments, and add something of their own.
 */
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import type { Registrar, ServerCommand } from "./registrar.ts";
import { REGISTRARS } from "./registrars.ts";
import { serverStep } from "./server-step.ts";
import type { Step } from "./step.ts";

const base = mkdtempSync(join(tmpdir(), "reeve-init-"));
afterAll(() => rmSync(base, { recursive: true, force: true }));

const SERVER = { words: ["/x/bin/reeve", "mcp"], variables: { REEVE_HOME: "/h" } } as const;
const ENTRY = { command: "/x/bin/reeve", args: ["mcp"], env: { REEVE_HOME: "/h" } };
const TOML_ENTRY =
  '[mcp_servers.reeve]\ncommand = "/x/bin/reeve"\nargs = ["mcp"]\n\n[mcp_servers.reeve.env]\nREEVE_HOME = "/h"\n';

const PROGRAM = String.raw`#!${process.execPath}
const { existsSync, readFileSync, writeFileSync } = require("node:fs");
const file = process.env.FAKE_FILE;
const before = existsSync(file) ? readFileSync(file, "utf8") : null;
const isAdd = process.argv[3] === "add";
if (process.env.FAKE_FORM === "toml") {
  const entry = process.env.FAKE_ENTRY;
  if (isAdd) writeFileSync(file, before === null ? entry : before.replace(/\n?$/, "\n") + "\n" + entry);
  else writeFileSync(file, "# written anew\n");
  process.exit(0);
}
const bare = (before ?? "{}").replaceAll(/"(?:\\.|[^"\\])*"|\/\/[^\n\r]*|\/\*[^]*?\*\//g, (one) => one.startsWith('"') ? one : " ");
const settings = JSON.parse(bare);
settings.mcpServers ??= {};
if (isAdd) { settings.mcpServers.reeve = JSON.parse(process.env.FAKE_ENTRY); settings.seenBefore = 1; }
else delete settings.mcpServers.reeve;
writeFileSync(file, JSON.stringify(settings, null, 2) + "\n");
`;

interface Rig {
  readonly file: string;
  readonly notesPath: string;
  step(server?: ServerCommand): Step;
}

let count = 0;
function rigOf(agent: string, before: string | Buffer | null): Rig {
  const registrar = REGISTRARS.find(({ name }) => name === agent) as Registrar;
  const root = join(base, String((count += 1)));
  const [home, bin] = [join(root, "home"), join(root, "bin")];
  for (const directory of [home, bin]) mkdirSync(directory, { recursive: true });
  const program = join(bin, agent);
  writeFileSync(program, PROGRAM, { mode: 0o755 });
  const places = { home, cwd: home, environment: {} };
  const file = registrar.file("user", places) ?? "";
  mkdirSync(dirname(file), { recursive: true });
  if (before !== null) writeFileSync(file, before);
  const form = agent === "codex" ? "toml" : "json";
  const notesPath = join(root, "state", "init.json");
  const step = (server: ServerCommand = SERVER): Step => {
    const [command] = server.words;
    const entry = form === "toml" ? TOML_ENTRY : JSON.stringify({ ...ENTRY, command });
    const environment = { FAKE_FILE: file, FAKE_FORM: form, FAKE_ENTRY: entry };
    return serverStep({ registrar, program, scope: "user", places: { ...places, environment }, server, notesPath });
  };
  return { file, notesPath, step };
}

const read = (path: string): string => readFileSync(path, "utf8");

async function made(rig: Rig): Promise<void> {
  expect(rig.step().state).toBe("absent");
  await rig.step().make();
  expect(rig.step().state).toBe("ours");
}

const JSON_TEXTS = [
  ["nothing", null],
  ["nothing in it", "{}"],
  ["an empty table", '{ "mcpServers": {} }\n'],
  ["an empty table and no line end", '{"a":1,"mcpServers":{\n}}'],
  [
    "tabs and carriage returns",
    '{\r\n\t"env": {\r\n\t\t"TOKEN" : "sk-very-secret"\r\n\t},\r\n\t"b": [1,2 , 3]\r\n}\r\n',
  ],
  ["servers of the user's, in one line", '{"z":1,"mcpServers":{"mine":{"command":"true","args":[]}},"a":"ü😀"}'],
  ["escapes and odd numbers", '{"a": "\\u00fc\\/", "n": 1.0e3, "n": -0}'],
] as const;
const COMMENTED =
  '// top, with "quotes"\n{\n\t/* about ui */ "ui": { "theme": "x" }, // mine\n\t"mcpServers": { "m": { "command": "y" } }\n}';
const CASES = [
  ...JSON_TEXTS.flatMap(([what, text]) => [["claude", what, text] as const, ["gemini", what, text] as const]),
  ["gemini", "comments", COMMENTED] as const,
  ["codex", "nothing", null] as const,
  ["codex", "an empty file", ""] as const,
  ["codex", "no line end", 'model = "x"   # mine'] as const,
  [
    "codex",
    "carriage returns and tabs",
    'model = "x"\r\n\r\n# about f\r\n[features]\r\n\tapps=false\r\n\r\n\r\n',
  ] as const,
];

describe("taken back, the file is as it was, to the byte", () => {
  it.each(CASES)("%s: %s", async (agent, _, before) => {
    const rig = rigOf(agent, before);
    await made(rig);
    await rig.step().takeBack();
    expect(existsSync(rig.file)).toBe(before !== null);
    if (before !== null) expect(read(rig.file)).toBe(before);
    expect(existsSync(rig.notesPath)).toBe(false);
    expect(rig.step().state).toBe("absent");
  });

  it("behind a link, with its permissions, and what is no UTF-8", async () => {
    const before = Buffer.concat([Buffer.from('model = "x" # '), Buffer.from([0xff, 0xa0]), Buffer.from("\n")]);
    const rig = rigOf("codex", null);
    const real = join(dirname(rig.notesPath), "..", "dotfiles.toml");
    writeFileSync(real, before);
    chmodSync(real, 0o640);
    symlinkSync(real, rig.file);
    const latin1 = (): string => readFileSync(real).toString("latin1");
    await made(rig);
    // What it holds is changed by the program here: this one knows only UTF-8.
    const after = latin1();
    await rig.step().takeBack();
    expect(after).toContain("reeve");
    expect(latin1()).toBe(before.toString("latin1"));
    expect([lstatSync(rig.file).isSymbolicLink(), statSync(real).mode & 0o777]).toEqual([true, 0o640]);
  });

  it("what is remembered of a file repeats nothing that it says", async () => {
    const rig = rigOf("claude", '{\n\t"env": { "TOKEN": "sk-very-secret" }\n}');
    await made(rig);
    expect(read(rig.notesPath)).not.toContain("secret");
    expect(statSync(rig.notesPath).mode & 0o777).toBe(0o600);
  });

  it("also where the entry was replaced by that of an installation that was moved", async () => {
    const before = '{"a":1,\t"mcpServers":{}}';
    const rig = rigOf("claude", before);
    await made(rig);
    const moved = { ...SERVER, words: ["/y/bin/reeve", "mcp"] } as const;
    expect(rig.step(moved).state).toBe("absent");
    await rig.step(moved).make();
    expect(rig.step(moved).state).toBe("ours");
    await rig.step(moved).takeBack();
    expect(read(rig.file)).toBe(before);
  });

  it("without the old entry where nothing is remembered of it", async () => {
    const rig = rigOf("claude", `{"mcpServers":{"reeve":{"command":"/old/bin/reeve","args":["mcp"]}}}`);
    await made(rig);
    await rig.step().takeBack();
    expect(JSON.parse(read(rig.file))).toEqual({ mcpServers: {} });
  });
});

describe("of a file that was changed in between, only Reeve's entry goes", () => {
  it("where the agent wrote something into it, with the table that came with the entry", async () => {
    const rig = rigOf("claude", '{"a":1}');
    await made(rig);
    const { mcpServers, ...rest } = JSON.parse(read(rig.file)) as { mcpServers: object };
    writeFileSync(rig.file, JSON.stringify({ ...rest, mcpServers, starts: 7 }, null, 2));
    await rig.step().takeBack();
    expect(read(rig.file)).toBe(JSON.stringify({ ...rest, starts: 7 }, null, 2));
    expect(existsSync(rig.notesPath)).toBe(false);
  });

  it("where a person wrote comments into it; a table that was there before stays", async () => {
    const rig = rigOf("gemini", '{"mcpServers":{}}');
    await made(rig);
    writeFileSync(rig.file, read(rig.file).replace("{\n", "{ // mine\r\n\t\n"));
    const now = read(rig.file);
    await rig.step().takeBack();
    expect(read(rig.file)).toBe(now.replace(/"mcpServers": \{[^]*\n {2}\}/, '"mcpServers": {}'));
  });

  it("codex: in a file with a table behind it", async () => {
    const rig = rigOf("codex", "a = 1\n");
    await made(rig);
    writeFileSync(rig.file, `${read(rig.file)}\n# mine\n[b]\nc = 2`);
    await rig.step().takeBack();
    expect(read(rig.file)).toBe("a = 1\n\n# mine\n[b]\nc = 2");
  });

  it("nothing but the entry where nothing is remembered; a file that is left without anything stays, too", async () => {
    for (const [agent, left] of [
      ["claude", '{\n  "mcpServers": {},\n  "seenBefore": 1\n}\n'],
      ["codex", ""],
    ] as const) {
      const rig = rigOf(agent, null);
      await made(rig);
      rmSync(rig.notesPath);
      await rig.step().takeBack();
      expect(read(rig.file)).toBe(left);
    }
  });

  it("a file that was made for it goes if nothing else is in it now, whatever its form", async () => {
    const rig = rigOf("codex", null);
    await made(rig);
    writeFileSync(rig.file, `\n${read(rig.file)}`);
    await rig.step().takeBack();
    expect(existsSync(rig.file)).toBe(false);
  });

  it("a form that Reeve does not know is left to the agent's own command", async () => {
    const rig = rigOf("codex", null);
    await made(rig);
    writeFileSync(rig.file, 'mcp_servers = { reeve = { command = "/x/bin/reeve", args = ["mcp"] } }\n');
    await rig.step().takeBack();
    expect(read(rig.file)).toBe("# written anew\n");
  });
});
