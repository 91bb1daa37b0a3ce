/**
 * Patterns that come from data: the shipped rules, a user's rules, and
 * `config.toml`. What they read is written by agents, so a pattern must never
 * take more time than the text is long. JavaScript's own engine cannot promise
 * that (`^(a+)+$` over forty letters and a dot never ends), so none of these
 * patterns may become a `RegExp`.
 *
 * The engine is loaded with the first pattern: a daemon whose sessions have no
 * rules does without it.
 */
export interface Pattern {
  readonly source: string;
  test(text: string): boolean;
  /** Group 1 of the first match, else the whole match; null where there is none. */
  find(text: string): string | null;
}

export type PatternCompiler = (source: string) => Pattern;

export async function loadPatternCompiler(): Promise<PatternCompiler> {
  const { compilePattern } = await import("./linear-pattern.ts");
  return compilePattern;
}
