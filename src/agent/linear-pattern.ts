/**
 * A pattern on RE2, whose time is bounded by the length of the text times the
 * size of the pattern. See docs/decisions/0018.
 *
 * Always asked for the place of the match: that path needs a fixed amount of
 * memory. Asked for yes or no only, RE2JS builds an automaton as it goes, which
 * a hostile screen can make grow to megabytes for each pattern.
 */
import { RE2JS } from "re2js";
import { messageOf } from "../platform/reeve-error.ts";
import type { Pattern } from "./pattern.ts";

/** In RE2's instructions; the largest shipped pattern has about 100. At this size a full screen takes tens of milliseconds. */
const LARGEST_SIZE = 500;

/** Throws an error that says what to do about it. */
export function compilePattern(source: string): Pattern {
  const compiled = compile(source);
  if (compiled.programSize() > LARGEST_SIZE)
    throw new Error(`"${source}" is too large a pattern: make the counts in its {…} smaller, or split it`);
  return {
    source,
    test: (text) => compiled.matcher(text).find(),
    find(text) {
      const matcher = compiled.matcher(text);
      if (!matcher.find()) return null;
      return (compiled.groupCount() > 0 ? matcher.group(1) : null) ?? matcher.group();
    },
  };
}

function compile(source: string): RE2JS {
  try {
    // Lets JavaScript's spelling stand where it only differs in form (`\u2500`, `\/`); it would also make a plain k of \k.
    const translated = RE2JS.translateRegExp(source);
    if (NAMED_REFERENCE.test(source)) throw new Error("invalid escape sequence: `\\k`");
    return RE2JS.compile(translated, RE2JS.MULTILINE);
  } catch (error) {
    const advice = UNSUPPORTED.find(({ syntax }) => syntax.test(source))?.advice;
    const why = messageOf(error).replace("error parsing regexp: ", "").replace("`(?m)", "`");
    throw new Error(`"${source}" is not a pattern: ${advice ?? why}`, { cause: error });
  }
}

const NAMED_REFERENCE = /(?<!\\)(?:\\\\)*\\k</;

/** What people bring along from other engines. Only looked at when the pattern was refused. */
const UNSUPPORTED: readonly { readonly syntax: RegExp; readonly advice: string }[] = [
  {
    syntax: /\(\?!\[\\s\\S\]\)/,
    advice: "there is no lookahead (?!…); write \\z for the end of the screen",
  },
  {
    syntax: /\(\?<?[=!]/,
    advice:
      "there is no lookahead or lookbehind (?=…) (?!…) (?<=…) (?<!…); name what may not be there in unless, or the allowed characters as [^…]",
  },
  {
    syntax: /\\(?:[1-9]|k<)/,
    advice: "there are no references to earlier groups (\\1, \\k<name>); write out what is to be found",
  },
];
