/**
 * Finds where the keys and values of a TOML file stand, so that a mistake can be
 * told with its line and column. The parser gives values without positions. The
 * text must be valid TOML: it is scanned here only after the parser took it.
 */
export interface Position {
  /** Both count from 1. */
  readonly line: number;
  readonly column: number;
}

/** Keys of tables and numbers of list items, from the top. */
export type TomlPath = readonly (string | number)[];

export interface TomlPositions {
  /** Of the key; of a list item its value; of a table its header. Null where the path is not in the file. */
  ofKey(path: TomlPath): Position | null;
  ofValue(path: TomlPath): Position | null;
}

interface Found {
  readonly key: number;
  readonly value: number;
}

export function locateToml(text: string): TomlPositions {
  const found = new Scan(text).all();
  const lines = lineStarts(text);
  const at = (path: TomlPath, what: keyof Found): Position | null => {
    const offset = found.get(nameOf(path))?.[what];
    return offset === undefined ? null : positionAt(text, lines, offset);
  };
  return { ofKey: (path) => at(path, "key"), ofValue: (path) => at(path, "value") };
}

class Scan {
  readonly #text: string;
  readonly #found = new Map<string, Found>();
  /** How many tables each list of tables has by now. */
  readonly #items = new Map<string, number>();
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  all(): ReadonlyMap<string, Found> {
    let table: TomlPath = [];
    for (this.#skip(); this.#at < this.#text.length; this.#skip()) {
      if (this.#text[this.#at] === "[") table = this.#header();
      else this.#pair(table);
    }
    return this.#found;
  }

  #header(): TomlPath {
    const start = this.#at;
    const isItem = this.#text.startsWith("[[", start);
    this.#at += isItem ? 2 : 1;
    const keys = this.#keys();
    while (this.#text[this.#at] === "]") this.#at += 1;
    const above = this.#newest(keys.slice(0, -1));
    const own = [...above, keys.at(-1) ?? ""];
    if (!isItem) {
      const table = this.#newest(keys);
      this.#note(table, start, start);
      return table;
    }
    const number = this.#items.get(nameOf(own)) ?? 0;
    this.#items.set(nameOf(own), number + 1);
    this.#note(own, start, start);
    this.#note([...own, number], start, start);
    return [...own, number];
  }

  /** A header names the last table of each list it goes through. */
  #newest(keys: readonly string[]): TomlPath {
    return keys.reduce<TomlPath>((path, key) => {
      const items = this.#items.get(nameOf([...path, key]));
      return items === undefined ? [...path, key] : [...path, key, items - 1];
    }, []);
  }

  #pair(table: TomlPath): void {
    const start = this.#at;
    const keys = this.#keys();
    this.#at += 1;
    this.#skip();
    keys.forEach((_, index) => this.#note([...table, ...keys.slice(0, index + 1)], start, this.#at));
    this.#value([...table, ...keys]);
  }

  /** `a.b."c d"`, up to what follows it. */
  #keys(): readonly string[] {
    const keys: string[] = [];
    for (;;) {
      this.#skipBlanks();
      const quote = this.#text[this.#at];
      if (quote === '"' || quote === "'") {
        const start = this.#at;
        this.#string();
        keys.push(unquoted(this.#text.slice(start, this.#at)));
      } else {
        const bare = /[^\s.=\]]*/y;
        bare.lastIndex = this.#at;
        const key = bare.exec(this.#text)?.[0] ?? "";
        this.#at += key.length;
        keys.push(key);
      }
      this.#skipBlanks();
      if (this.#text[this.#at] !== ".") return keys;
      this.#at += 1;
    }
  }

  #value(path: TomlPath): void {
    const first = this.#text[this.#at];
    if (first === '"' || first === "'") return this.#string();
    if (first === "[") return this.#list("]", (index) => this.#item([...path, index]));
    if (first === "{") return this.#list("}", () => this.#pair(path));
    while (this.#at < this.#text.length && !",]}\n#".includes(this.#text[this.#at] ?? "")) this.#at += 1;
  }

  #item(path: TomlPath): void {
    this.#note(path, this.#at, this.#at);
    this.#value(path);
  }

  #list(end: string, each: (index: number) => void): void {
    this.#at += 1;
    this.#skip();
    for (let index = 0; this.#at < this.#text.length && this.#text[this.#at] !== end; index++) {
      each(index);
      this.#skip();
      if (this.#text[this.#at] === ",") this.#at += 1;
      this.#skip();
    }
    this.#at += 1;
  }

  #string(): void {
    const quote = this.#text[this.#at] ?? "";
    const triple = quote.repeat(3);
    const end = this.#text.startsWith(triple, this.#at) ? triple : quote;
    this.#at += end.length;
    while (this.#at < this.#text.length && !this.#text.startsWith(end, this.#at))
      this.#at += quote === '"' && this.#text[this.#at] === "\\" ? 2 : 1;
    this.#at += end.length;
    // Up to two more quotes may stand before the three that end it.
    if (end === triple) while (this.#text[this.#at] === quote) this.#at += 1;
  }

  #skipBlanks(): void {
    while (this.#text[this.#at] === " " || this.#text[this.#at] === "\t") this.#at += 1;
  }

  /** Blanks, line ends and comments. */
  #skip(): void {
    const gap = /(?:\s|#[^\n]*)*/y;
    gap.lastIndex = this.#at;
    this.#at += gap.exec(this.#text)?.[0].length ?? 0;
  }

  #note(path: TomlPath, key: number, value: number): void {
    const name = nameOf(path);
    if (!this.#found.has(name)) this.#found.set(name, { key, value });
  }
}

function unquoted(text: string): string {
  if (text.startsWith("'")) return text.slice(1, -1);
  try {
    return String(JSON.parse(text));
  } catch {
    return text.slice(1, -1);
  }
}

function nameOf(path: TomlPath): string {
  return JSON.stringify(path);
}

function lineStarts(text: string): readonly number[] {
  return [0, ...[...text.matchAll(/\n/g)].map(({ index }) => index + 1)];
}

function positionAt(text: string, starts: readonly number[], offset: number): Position {
  const index = starts.findLastIndex((start) => start <= offset);
  return { line: index + 1, column: Array.from(text.slice(starts[index] ?? 0, offset)).length + 1 };
}
