import { describe, expect, it } from "vitest";
import { operations } from "../../operation/operations.ts";
import type { Operation } from "../../operation/contract.ts";
import { made } from "../../operation/field.ts";
import { sessionViewSchema } from "../../operation/session-view.ts";
import { CATALOGUE } from "./catalogue.ts";
import { INSTRUCTIONS } from "./instructions.ts";
import { TOOLS } from "./tools.ts";

const all = operations as readonly Operation[];
const operationOf = (name: string): Operation | undefined => all.find((operation) => operation.name === name);

/** Measured with o200k_base: 4.3 characters to a token. A tokenizer would be 30 MB of packages for one number. */
const CHARACTERS_PER_TOKEN = 3.5;

describe("the catalogue", () => {
  it("has every operation, or says why it is no tool", () => {
    const snakeCase = (verb: string): string => verb.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
    expect(Object.keys(TOOLS).map(snakeCase).toSorted()).toEqual(all.map(({ name }) => name).toSorted());
    const left = Object.entries(TOOLS).flatMap(([verb, text]) => ("notATool" in text ? [snakeCase(verb)] : []));
    const tools = CATALOGUE.map(({ tool }) => tool.name);
    expect([...tools, ...left].toSorted()).toEqual(all.map(({ name }) => name).toSorted());
    for (const text of Object.values(TOOLS)) if ("notATool" in text) expect(text.notATool).toMatch(/^[A-Z].*\.$/);
  });

  it("hints at what each tool does, from its operation", () => {
    for (const { tool, isForSessions } of CATALOGUE) {
      const { effect, callers } = operationOf(tool.name) ?? {};
      expect([tool.name, tool.annotations]).toEqual([
        tool.name,
        expect.objectContaining({ destructiveHint: effect === "end", openWorldHint: false }),
      ]);
      expect([tool.name, tool.annotations.readOnlyHint === true]).toEqual([tool.name, effect === "read"]);
      expect([tool.name, isForSessions]).toEqual([tool.name, callers?.session !== "none"]);
    }
    const repeatable = CATALOGUE.filter(({ tool }) => tool.annotations.idempotentHint).map(({ tool }) => tool.name);
    expect(repeatable).toContain("end_session");
    expect(repeatable).not.toContain("start_session");
    expect(repeatable).not.toContain("send_message");
  });

  it("describes every field that a model may give, and hides only fields that there are", () => {
    for (const { tool, verb } of CATALOGUE) {
      const { properties = {} } = tool.inputSchema as { properties?: Record<string, { description?: string }> };
      for (const [name, { description }] of Object.entries(properties))
        expect([tool.name, name, description]).toEqual([tool.name, name, expect.stringMatching(/\S/)]);
      const text = TOOLS[verb];
      if ("notATool" in text) continue;
      const fields = Object.keys(operationOf(tool.name)?.input.shape ?? {});
      const named = [text.hidden ?? [], text.filled ?? [], Object.keys({ ...text.fields, ...text.defaults })].flat();
      for (const name of named) expect([tool.name, fields]).toEqual([tool.name, expect.arrayContaining([name])]);
    }
  });

  it("shows of a list only fields that its items have", () => {
    const { items } = CATALOGUE.find(({ tool }) => tool.name === "list_sessions") ?? {};
    expect(Object.keys(made(sessionViewSchema).shape)).toEqual(
      expect.arrayContaining([...(items?.fields ?? ["none"])]),
    );
  });

  it("fits: instructions below 2,000 characters, and all of it below 8,000 tokens", () => {
    const listed = JSON.stringify({ tools: CATALOGUE.map(({ tool }) => tool) });
    const tokens = Math.ceil((listed.length + INSTRUCTIONS.length) / CHARACTERS_PER_TOKEN);
    console.log(
      `MCP: ${CATALOGUE.length} tools in ${listed.length} characters, instructions in ${INSTRUCTIONS.length}: about ${tokens} tokens`,
    );
    expect(INSTRUCTIONS.length).toBeLessThanOrEqual(2_000);
    // 6,000 until the queue of work came: its five tools take 1,000 (docs/decisions/0048-work.md).
    // 7,000 until diagnose (by session), recover and the four tools of memories came: decisions 67 to 69.
    expect(tokens).toBeLessThan(8_000);
  });

  it("names only tools that there are, in its texts", () => {
    const names = all.map(({ name }) => name);
    const texts = [INSTRUCTIONS, ...CATALOGUE.map(({ tool }) => JSON.stringify(tool))];
    const words = texts.flatMap((text) => text.match(/\b[a-z]+(?:_[a-z]+)+\b/g) ?? []);
    const tools = CATALOGUE.map(({ tool }) => tool.name);
    for (const word of words) if (names.includes(word)) expect(tools).toContain(word);
  });
});
