/** Every session that is known, also those that were ended, however many pages they are on. */
import type { Client } from "../../client/create-client.ts";
import type { SessionView } from "../../client/operation-types.ts";

export async function everySession(client: Pick<Client, "listSessions">): Promise<readonly SessionView[]> {
  const all: SessionView[] = [];
  for (let page: string | undefined; ;) {
    const listed = await client.listSessions({ all: true, limit: 1_000, ...(page === undefined ? {} : { page }) });
    all.push(...listed.sessions);
    if (listed.next_page === null || listed.next_page === undefined) return all;
    page = listed.next_page;
  }
}
