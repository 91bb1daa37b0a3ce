/** What the user's own arguments change in Codex's configuration: `-c key=value`, `--profile`. */
import { parse } from "smol-toml";
import { fieldsOf, textOf } from "../../platform/json-fields.ts";

export interface ConfigOverrides {
  /** The value of a key with dots, as the last flag gives it; null where none does, or it is no text. */
  text(key: string): string | null;
  readonly profile: string | null;
}

export function overridesIn(args: readonly string[]): ConfigOverrides {
  const values = new Map<string, string | null>();
  let profile: string | null = null;
  for (const [index, word] of args.entries()) {
    const next = args[index + 1] ?? "";
    const setting = word === "-c" || word === "--config" ? next : (/^(?:--config=|-c=?)(.+)$/s.exec(word)?.[1] ?? null);
    if (setting !== null) {
      const equals = setting.indexOf("=");
      if (equals > 0) values.set(setting.slice(0, equals).trim(), valueOf(setting.slice(equals + 1)));
    }
    if (word === "-p" || word === "--profile") profile = next;
    else profile = /^(?:--profile=|-p=?)(.+)$/s.exec(word)?.[1] ?? profile;
  }
  return { text: (key) => values.get(key) ?? null, profile };
}

/** As Codex takes it: TOML, or where it is none the text itself. */
function valueOf(text: string): string | null {
  try {
    return textOf(fieldsOf(parse(`value = ${text.trim()}`))["value"]);
  } catch {
    return textOf(text.trim());
  }
}
