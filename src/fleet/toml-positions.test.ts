import { describe, expect, it } from "vitest";
import { locateToml, type TomlPath } from "./toml-positions.ts";

const TEXT = `# a comment with "quotes" and [brackets]
title = "x = [1]" # and more
'quoted key'.inner = 1
list = [
  "one", # [two]
  { name = "three", when = 1979-05-27 07:32:00 },
]
long = """
a "quoted" = "word"
\\""" "" x"""
after = true

[table.inner]
ключ.x = 'C:\\'

[[item]]
id = 1
  [item.sub]
  deep = { a.b = 1, "c d" = [ [ 2 ] ] }
[[item]]
id = 2
[[item.part]]
n = 1
[[item.part]]
n = 2
`;

describe("locateToml", () => {
  const positions = locateToml(TEXT);
  const key = (...path: TomlPath) => Object.values(positions.ofKey(path) ?? {}).join(":");
  const value = (...path: TomlPath) => Object.values(positions.ofValue(path) ?? {}).join(":");

  it("finds keys and values", () => {
    expect([key("title"), value("title")]).toEqual(["2:1", "2:9"]);
    expect([key("quoted key", "inner"), value("quoted key", "inner")]).toEqual(["3:1", "3:22"]);
    expect([value("list"), value("list", 0), value("list", 1)]).toEqual(["4:8", "5:3", "6:3"]);
    expect([key("list", 1, "when"), value("list", 1, "when")]).toEqual(["6:21", "6:28"]);
    expect([key("after"), value("after")]).toEqual(["11:1", "11:9"]);
  });

  it("finds what stands in tables and lists of tables", () => {
    expect([key("table", "inner"), key("table", "inner", "ключ", "x")]).toEqual(["13:1", "14:1"]);
    expect(value("table", "inner", "ключ", "x")).toBe("14:10");
    expect([key("item", 0), key("item", 1), key("item", 1, "id")]).toEqual(["16:1", "20:1", "21:1"]);
    expect(key("item", 0, "sub", "deep", "a", "b")).toBe("19:12");
    expect(value("item", 0, "sub", "deep", "c d", 0, 0)).toBe("19:33");
    expect([key("item", 1, "part", 0, "n"), key("item", 1, "part", 1, "n")]).toEqual(["23:1", "25:1"]);
  });

  it("knows nothing of what is not there", () => {
    expect(positions.ofKey(["nothing"])).toBeNull();
  });
});
