import { describe, expect, it } from "vitest";
import { checkName, quote } from "./quote.ts";

describe("quote", () => {
  it("escapes what tmux reads inside double quotes", () => {
    expect(quote("a b")).toBe('"a b"');
    expect(quote('\\ " $x ~ # ; {}')).toBe('"\\\\ \\" \\$x \\~ # ; {}"');
    expect(quote("l1\nl2\t\u007f")).toBe('"l1\\012l2\\011\\177"');
  });

  it("refuses NUL", () => {
    expect(() => quote("a\0b")).toThrow(expect.objectContaining({ code: "nul-in-argument" }));
  });
});

describe("checkName", () => {
  it("lets only plain ids through", () => {
    expect(checkName("a-1")).toBe("a-1");
    for (const name of ["", "A", "a.b", "a:b", "#{x}", "a\n", "x".repeat(65)]) {
      expect(() => checkName(name)).toThrow(expect.objectContaining({ code: "name-invalid" }));
    }
  });
});
