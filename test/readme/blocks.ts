/** The code blocks of a page, for the tests that run them. */

/** All blocks of one language, in order. */
export function blocksOf(text: string, language: string): readonly string[] {
  const pattern = new RegExp(`^\`\`\`${language}\\n([^]*?)^\`\`\``, "gm");
  return [...text.matchAll(pattern)].map((block) => (block[1] ?? "").trim());
}
