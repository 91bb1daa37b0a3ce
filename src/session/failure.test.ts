import { expect, test } from "vitest";
import { failureOfLastWords } from "./failure.ts";

test.each([
  [
    "\nFATAL ERROR: Reached heap limit Allocation failed - JavaScript heap out of memory\n----- Native stack trace\n",
    true,
  ],
  ["memory allocation of 1073741824 bytes failed\n", true],
  ["fatal error: runtime: out of memory\n\nruntime stack:\n", true],
  ["terminate called after throwing an instance of 'std::bad_alloc'\n", true],
  ["● I ran out of memory once, and the panic: out of memory was mine.\n", false],
  [`JavaScript heap out of memory\n${"and on it went\n".repeat(60)}`, false],
  ["", false],
])("last words %j", (text, isOutOfMemory) => {
  expect(failureOfLastWords(text)).toBe(isOutOfMemory ? "out-of-memory" : null);
});
