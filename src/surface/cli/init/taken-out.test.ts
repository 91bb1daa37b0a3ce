/** Reeve's entry goes out of any configuration that an agent can read, and every other byte stays. */
import fc from "fast-check";
import { describe, expect, it, test } from "vitest";
import { REGISTRARS } from "./registrars.ts";
import type { Registrar } from "./registrar.ts";
import { takenOut } from "./taken-out.ts";
import { wayBack, wentBack } from "./way-back.ts";

const registrar = (name: string): Registrar => {
  const found = REGISTRARS.find((one) => one.name === name);
  if (found === undefined) throw new Error(name);
  return found;
};
const out = (name: string, text: string, ownTable = false): string | undefined =>
  takenOut(registrar(name), Buffer.from(text), ownTable)?.toString("utf8");

describe("out of JSON", () => {
  const ENTRY = '"reeve": { "command": "/x/reeve", "args": ["mcp"], "env": { "A": "}" } }';

  it.each([
    ["the only one", `{\n\t"mcpServers": {\n\t\t${ENTRY}\n\t}\n}\n`, '{\n\t"mcpServers": {}\n}\n'],
    ["before another", `{"mcpServers": {\r\n  ${ENTRY},\r\n  "mine": 1\r\n}}`, '{"mcpServers": {\r\n  "mine": 1\r\n}}'],
    ["behind another", `{"mcpServers":{"mine":1 , ${ENTRY} } }`, '{"mcpServers":{"mine":1  } }'],
    ["between two", `{"mcpServers":{"a":1,${ENTRY},"b":2}}`, '{"mcpServers":{"a":1,"b":2}}'],
    ["with its name in other letters", `{"mcpServers":{"re\\u0065ve":{}, "b":"ü"}}`, '{"mcpServers":{"b":"ü"}}'],
    [
      "not one of a project",
      `{"p":{"mcpServers":{${ENTRY}}},"mcpServers":{${ENTRY}}}`,
      `{"p":{"mcpServers":{${ENTRY}}},"mcpServers":{}}`,
    ],
  ])("%s", (_, before, after) => {
    expect(out("claude", before)).toBe(after);
  });

  it("leaves comments, wherever they are", () => {
    const before = `// top\n{ "mcpServers": {\n  "mine": 1, // "reeve": my own words\n  /* ours? */ ${ENTRY} // behind\n} /* end */ }`;
    expect(out("gemini", before)).toBe(
      `// top\n{ "mcpServers": {\n  "mine": 1 // "reeve": my own words\n  /* ours? */ // behind\n} /* end */ }`,
    );
    expect(out("gemini", `{ "mcpServers": { /* a */ ${ENTRY} /* b */ } }`)).toBe(
      '{ "mcpServers": { /* a */ /* b */ } }',
    );
  });

  it("takes the table only where it is Reeve's own", () => {
    const before = `{\n  "a": 1,\n  "mcpServers": {\n    ${ENTRY}\n  }\n}`;
    expect(out("claude", before)).toBe('{\n  "a": 1,\n  "mcpServers": {}\n}');
    expect(out("claude", before, true)).toBe('{\n  "a": 1\n}');
    expect(out("claude", before.replace(ENTRY, `"mine": 1, ${ENTRY}`), true)).toContain('"mine": 1');
  });

  it("whatever else is there, in whatever form, stays as it is", () => {
    const gap = fc
      .array(fc.constantFrom(" ", "\t", "\n", "\r\n", "/* c, { */", '// "x": 1\n'), { maxLength: 3 })
      .map((parts) => parts.join(""));
    const gaps = fc.tuple(gap, gap, gap, gap);
    const values = ['"a,b}"', '"\\"reeve\\""', "1e3", "null", "[ {} ,[1] ]", '{"reeve":{"mcpServers":1}}', '"ü😀"'];
    const member = fc.record({ key: fc.constantFrom("a", "b", "mine", "ö"), value: fc.constantFrom(...values), gaps });
    const members = fc.uniqueArray(member, { selector: ({ key }) => key });
    /** All that is not a gap or a comma. */
    const squashed = (text: string): string => text.replaceAll(/[ \t\r\n,]/g, "");
    const { parse } = registrar("gemini");
    fc.assert(
      fc.property(members, fc.nat(), gaps, (others, at, [one, two, three, four]) => {
        const drawn = others.map(({ key, value, gaps: [a, b, c, d] }) => `${a}"${key}"${b}:${c}${value}${d}`);
        const entry = `"reeve"${two}:{"command":"x"}`;
        const all = drawn.toSpliced(at % (drawn.length + 1), 0, one + entry + three);
        const before = `{${four}"mcpServers":{${all.join(",")}}}`;
        const after = out("gemini", before) ?? "";
        const { reeve: _, ...left } = parse(before)["mcpServers"] as Record<string, unknown>;
        expect(parse(after)).toEqual({ mcpServers: left });
        expect(squashed(after)).toBe(squashed(before.replace(entry, "")));
      }),
      { numRuns: 500 },
    );
  });
});

describe("out of TOML", () => {
  const ENTRY =
    '[mcp_servers.reeve]\ncommand = "/x/reeve"\nargs = ["mcp"]\n\n[mcp_servers.reeve.env]\nREEVE_HOME = "/h"\n';

  it.each([
    ["at the end", `model = "x" # mine\n\n${ENTRY}`, 'model = "x" # mine\n'],
    ["alone", ENTRY, ""],
    ["between two", `a = 1\n\n${ENTRY}\n# about b\n[b]\nc = 1`, "a = 1\n\n# about b\n[b]\nc = 1"],
    ["with a comment of the user in it", `${ENTRY}# mine\n`, "# mine\n"],
    ["with carriage returns", `a = 1\r\n\r\n${ENTRY.replaceAll("\n", "\r\n")}`, "a = 1\r\n"],
    [
      "in quotes",
      `[mcp_servers."reeve"]\ncommand = "x"\n[mcp_servers.mine]\ncommand = "y"\n`,
      '[mcp_servers.mine]\ncommand = "y"\n',
    ],
    [
      "beside one whose name begins so",
      `${ENTRY}\n[mcp_servers.reeve-2]\ncommand = "y"\n`,
      '\n[mcp_servers.reeve-2]\ncommand = "y"\n',
    ],
  ])("%s", (_, before, after) => {
    expect(out("codex", before)).toBe(after);
  });

  it.each([
    ["inline", 'mcp_servers = { reeve = { command = "x" }, mine = { command = "y" } }\n'],
    ["with dots", '[mcp_servers]\nreeve.command = "x"\n'],
    [
      "with a line in a value that looks like a heading",
      `text = """\n[mcp_servers.reeve]\ncommand = "z"\n"""\n${ENTRY}`,
    ],
  ])("leaves a form that it does not know to the agent: %s", (_, text) => {
    expect(out("codex", text)).toBeUndefined();
  });
});

test("what is no UTF-8 stays as it is", () => {
  const before = Buffer.concat([
    Buffer.from('{"a":"'),
    Buffer.from([0xff, 0xa0, 0x85]),
    Buffer.from('","mcpServers":{"reeve":{}}}'),
  ]);
  expect(takenOut(registrar("claude"), before, true)).toEqual(
    Buffer.concat([Buffer.from('{"a":"'), Buffer.from([0xff, 0xa0, 0x85]), Buffer.from('"}')]),
  );
});

describe("the way back", () => {
  it("gives any bytes from any others", () => {
    const bytes = fc.oneof(
      fc.uint8Array({ maxLength: 60 }),
      fc.string({ unit: fc.constantFrom("a", '"', "{", " ", "\n", "\r\n", "ü", ","), maxLength: 60 }),
    );
    fc.assert(
      fc.property(bytes, bytes, (one, other) => {
        const [before, after] = [Buffer.from(one as string), Buffer.from(other as string)];
        expect(wentBack(wayBack(before, after), after)).toEqual(before);
      }),
      { numRuns: 500 },
    );
  });

  it("of a file that was only written in another form holds gaps, and no value of it", () => {
    const settings = { env: { TOKEN: "sk-very-secret" }, list: ["sk-very-secret", 2, null], "a b": { c: "x y" } };
    const before = Buffer.from(JSON.stringify(settings, null, "\t\t").replaceAll("\n", "\r\n"));
    const after = Buffer.from(JSON.stringify({ ...settings, mcpServers: { reeve: {} } }, null, 2));
    const pieces = wayBack(before, after);
    expect(wentBack(pieces, after)).toEqual(before);
    expect(pieces.filter((piece) => typeof piece === "string").join("")).toMatch(/^[\t\r\n]*$/);
  });
});
