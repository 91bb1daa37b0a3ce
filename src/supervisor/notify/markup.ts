/** Text in which nothing is read as more than text: no entity, link or mention in Slack, no markup on a desktop. */
export function escapeMarkup(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
