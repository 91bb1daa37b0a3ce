/** A text inside an event, whose fields are known only when it is read. */
export function textIn(value: unknown, name: string): string | null {
  const found: unknown =
    typeof value === "object" && value !== null ? Object.entries(value).find(([key]) => key === name)?.[1] : null;
  return typeof found === "string" ? found : null;
}
