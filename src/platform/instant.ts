/** What no calendar has is shown as its beginning: one bad instant must not take the whole list with it. */
export function iso(at: number): string {
  const date = new Date(at);
  return (Number.isNaN(date.getTime()) ? new Date(0) : date).toISOString();
}
