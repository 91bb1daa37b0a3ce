/**
 * The screen rules of each agent: those that come with Reeve, and the user's
 * own, read when an agent is first watched and again when a file changed.
 */
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import type { ScreenRule } from "../agent/screen-rules.ts";
import { mergeScreenRules, parseScreenRules } from "../agent/screen-rules.ts";
import type { Log } from "../platform/log.ts";
import { errnoOf, messageOf } from "../platform/reeve-error.ts";

export type RuleBook = (agent: string) => readonly ScreenRule[];

/** Often enough for someone who is writing a rule, seldom enough to cost nothing. */
const STALE_AFTER_MS = 2_000;

export function createRuleBook(parts: {
  readonly shippedDir: string;
  readonly usersDir: string;
  /** Of agents that the configuration declares. */
  readonly declared: ReadonlyMap<string, readonly ScreenRule[]>;
  readonly log: Log;
}): RuleBook {
  const books = new Map<string, { readonly rules: readonly ScreenRule[]; readonly stamp: string; checkedAt: number }>();

  function load(agent: string, stamp: string): readonly ScreenRule[] {
    const shipped = parts.declared.get(agent) ?? read(join(parts.shippedDir, `${agent}.toml`));
    try {
      return mergeScreenRules(shipped, read(join(parts.usersDir, `${agent}.toml`)));
    } catch (error) {
      parts.log("the user's screen rules are not right; only those of Reeve are used", {
        agent,
        stamp,
        why: messageOf(error),
      });
      return shipped;
    }
  }

  return (agent) => {
    const known = books.get(agent);
    const now = performance.now();
    if (known !== undefined && now - known.checkedAt < STALE_AFTER_MS) return known.rules;
    const about = statSync(join(parts.usersDir, `${agent}.toml`), { throwIfNoEntry: false });
    const stamp = about === undefined ? "" : `${about.mtimeMs} ${about.size}`;
    if (known !== undefined && known.stamp === stamp) {
      known.checkedAt = now;
      return known.rules;
    }
    const rules = load(agent, stamp);
    books.set(agent, { rules, stamp, checkedAt: now });
    return rules;
  };
}

function read(path: string): readonly ScreenRule[] {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (error) {
    if (errnoOf(error) === "ENOENT") return [];
    throw error;
  }
  return parseScreenRules(text);
}
