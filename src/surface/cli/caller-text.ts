/** Who asked, in words: `session:abc` is how programs read it. */
export function callerText(caller: string): string {
  if (caller === "operator") return "the operator";
  if (caller === "system") return "Reeve itself";
  return caller.replace(/^session:/, "session ");
}
