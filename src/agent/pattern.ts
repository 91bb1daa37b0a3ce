/**
 * Patterns that come from data: the shipped rules, a user's rules, and
 * `config.toml`. Agents write the text that they read, so the time of a pattern
 * must be linear in the length of the text. JavaScript's own engine cannot
 * promise that (`^(a+)+$` over forty letters and a dot never ends), so none of
 * these patterns may become a `RegExp`.
 *
 * The engine is loaded with the first pattern, so a daemon whose sessions have
 * no rules does not load it.
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
