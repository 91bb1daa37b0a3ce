/** The approval rules of a config.toml, ready to be used. The engine of their patterns is loaded with the first. */
import { homedir } from "node:os";
import { parse } from "smol-toml";
import { loadPatternCompiler } from "../../agent/pattern.ts";
import type { ApprovalRule } from "../../fleet/approval-rule.ts";
import { parseRuleTables, type RuleTable, withPatterns } from "../../fleet/rule-table.ts";

export async function compileRules(tables: readonly RuleTable[]): Promise<readonly ApprovalRule[]> {
  if (tables.length === 0) return [];
  const compile = await loadPatternCompiler();
  return withPatterns(tables, (source) => {
    // As it was written, for its own mistakes: a bracket that closes ours would change what it means.
    const found = compile(source);
    const whole = compile(`\\A(?:${source})\\z`);
    return { source, fits: (text) => whole.test(text), isIn: (text) => found.test(text) };
  });
}

/** Of the text of a file: only its [[approval]] tables count. Throws what is wrong with them. */
export async function readRules(text: string): Promise<readonly ApprovalRule[]> {
  const { approval = [] } = parse(text);
  return await compileRules(parseRuleTables(approval, homedir()));
}
