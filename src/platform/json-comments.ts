/** JSON as people write it for some agents: with comments. */
export function withoutComments(text: string): string {
  return text.replaceAll(/"(?:\\.|[^"\\])*"|\/\/[^\n\r]*|\/\*[\s\S]*?\*\//g, (match) =>
    match.startsWith('"') ? match : " ",
  );
}
