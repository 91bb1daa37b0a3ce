/** Values for `-c key=value`, which Codex parses as TOML. */

/** A JSON string is a TOML basic string, except that TOML wants DEL escaped. */
export function tomlText(text: string): string {
  return JSON.stringify(text).replaceAll("\u007f", "\\u007f");
}

export function tomlList(texts: readonly string[]): string {
  return `[${texts.map(tomlText).join(",")}]`;
}
