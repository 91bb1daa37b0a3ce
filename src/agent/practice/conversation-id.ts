/** Ids of practice conversations. */
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

export function isConversationId(value: unknown): value is string {
  return typeof value === "string" && UUID.test(value);
}
