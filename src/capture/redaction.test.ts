import fc from "fast-check";
import { expect, test } from "vitest";
import { createRedactor, REDACTED, redact } from "./redaction.ts";

test("known values are replaced, the longest first", () => {
  expect(redact("a secret-long and a secret", ["secret", "secret-long"])).toBe(`a ${REDACTED} and a ${REDACTED}`);
});

test("text that begins no secret is not held back", () => {
  expect(createRedactor(["hunter2-hunter2"]).push("all is well\n")).toBe("all is well\n");
});

test("cutting the text anywhere changes nothing, and no secret comes out", () => {
  const secrets = ["abcabd", "zzzz", "cab"];
  const piece = fc.constantFrom("abc", "abd", "zz", "cab", "x", "abcabd", "zzzz", " ");
  fc.assert(
    fc.property(fc.array(piece), fc.array(fc.nat(50)), (pieces, cuts) => {
      const text = pieces.join("");
      const redactor = createRedactor(secrets);
      let out = "";
      let from = 0;
      for (const cut of cuts.toSorted((a, b) => a - b)) {
        out += redactor.push(text.slice(from, cut));
        from = Math.max(from, cut);
      }
      out += redactor.push(text.slice(from)) + redactor.flush();
      for (const secret of ["abcabd", "zzzz"]) expect(out).not.toContain(secret);
      expect(out.replaceAll(REDACTED, "").length).toBeLessThanOrEqual(text.length);
    }),
  );
});
