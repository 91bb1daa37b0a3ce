/**
 * The screen rules of each agent: those that come with Reeve, and the user's
 * own, read when an agent is first watched and again when a file changed. A
 * file or a pattern that cannot be used harms only its own agent.
 */
import { existsSync, statSync } from "node:fs";
import { join } from "node:path";
import { type Composer, parseComposer } from "../../agent/composer.ts";
import type { ScreenRule } from "../../agent/screen-rules.ts";
import { mergeScreenRules, parseScreenRules } from "../../agent/screen-rules.ts";
import type { Log } from "../../platform/log.ts";
import { readPlainFile } from "../../platform/plain-file.ts";
import { messageOf } from "../../platform/reeve-error.ts";

export interface RuleBook {
  /** Whether there is anything to read for an agent, without reading it. */
  has(agent: string): boolean;
  /** Those that can be used; what is wrong with the others is logged and kept in `problems`. */
  of(agent: string): Promise<readonly ScreenRule[]>;
  /** The user's, else ours; null where nothing describes it. */
  composer(agent: string): Promise<Composer | null>;
  /** Rejects when the agent's patterns in config.toml cannot be used: nothing would know what it does. */
  require(agent: string): Promise<void>;
  /** One sentence for each file that is not right, as far as it has been read. */
  problems(): readonly string[];
}

/** What one file, or both together, say. */
interface Page {
  readonly rules: readonly ScreenRule[];
  readonly composer: Composer | null;
}

const EMPTY: Page = { rules: [], composer: null };

interface Book {
  readonly page: Promise<Page>;
  readonly stamp: string;
  checkedAt: number;
}

const LARGEST_FILE_BYTES = 1_048_576;

/** Often enough for someone who is writing a rule, seldom enough to cost nothing. */
const STALE_AFTER_MS = 2_000;

export function createRuleBook(parts: {
  readonly shippedDir: string;
  readonly usersDir: string;
  /** The patterns of agents that the configuration declares; without patterns an agent is left out. */
  readonly declared: ReadonlyMap<string, () => Promise<readonly ScreenRule[]>>;
  readonly log: Log;
}): RuleBook {
  const books = new Map<string, Book>();
  const problems = new Map<string, string>();
  const usersPath = (agent: string): string => join(parts.usersDir, `${agent}.toml`);
  const shippedPath = (agent: string): string => join(parts.shippedDir, `${agent}.toml`);

  /** Without those that cannot be used. */
  async function usable(agent: string, what: string, load: () => Promise<Page>): Promise<Page> {
    try {
      const page = await load();
      problems.delete(what);
      return page;
    } catch (error) {
      const why = messageOf(error);
      if (problems.get(what) !== why) parts.log("screen rules are not right and are not used", { agent, what, why });
      problems.set(what, why);
      return EMPTY;
    }
  }

  async function load(agent: string): Promise<Page> {
    const declared = parts.declared.get(agent);
    const own =
      declared === undefined
        ? await read(shippedPath(agent))
        : await usable(agent, `config.toml ${agent}`, async () => ({ ...EMPTY, rules: await declared() }));
    const users = await usable(agent, usersPath(agent), () => readUsers(usersPath(agent)));
    return { rules: mergeScreenRules(own.rules, users.rules), composer: users.composer ?? own.composer };
  }

  function bookOf(agent: string): Book {
    const known = books.get(agent);
    const now = performance.now();
    if (known !== undefined && now - known.checkedAt < STALE_AFTER_MS) return known;
    const about = statSync(usersPath(agent), { throwIfNoEntry: false });
    const stamp = about === undefined ? "" : `${about.mtimeMs} ${about.size}`;
    if (known !== undefined && known.stamp === stamp) {
      known.checkedAt = now;
      return known;
    }
    const book = { page: load(agent), stamp, checkedAt: now };
    books.set(agent, book);
    return book;
  }

  const has = (agent: string): boolean =>
    books.has(agent) || parts.declared.has(agent) || existsSync(shippedPath(agent)) || existsSync(usersPath(agent));

  return {
    has,
    of: async (agent) => (await bookOf(agent).page).rules,
    composer: async (agent) => (has(agent) ? (await bookOf(agent).page).composer : null),
    async require(agent) {
      await parts.declared.get(agent)?.();
    },
    problems: () => [...problems.values()],
  };
}

async function readUsers(path: string): Promise<Page> {
  try {
    return await read(path);
  } catch (error) {
    throw new Error(
      `${path} is not right, so none of its rules is used: ${messageOf(error)}. Fix or delete that rule.`,
      {
        cause: error,
      },
    );
  }
}

async function read(path: string): Promise<Page> {
  const text = readPlainFile(path, LARGEST_FILE_BYTES);
  if (text === null) return EMPTY;
  return { rules: await parseScreenRules(text), composer: await parseComposer(text) };
}
