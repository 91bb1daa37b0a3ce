/** The items of the inbox that are not closed, in memory: by id, and by what they are about. */
import type { InboxItem } from "../../fleet/inbox.ts";

/** What an item is about: the id of a session, or null for the home. */
export type Subject = string | null;

export interface LiveItems {
  get(id: string): InboxItem | undefined;
  all(): readonly InboxItem[];
  of(subject: Subject): readonly InboxItem[];
  /** One that is closed leaves. */
  put(item: InboxItem): void;
  clear(): void;
}

export function createLiveItems(): LiveItems {
  const items = new Map<string, InboxItem>();
  const subjects = new Map<Subject, Set<string>>();
  return {
    get: (id) => items.get(id),
    all: () => [...items.values()],
    of: (subject) => [...(subjects.get(subject) ?? [])].flatMap((id) => items.get(id) ?? []),
    clear() {
      items.clear();
      subjects.clear();
    },
    put(item) {
      const ids = subjects.get(item.sessionId) ?? new Set<string>();
      if (item.state === "closed") {
        items.delete(item.id);
        ids.delete(item.id);
      } else {
        items.set(item.id, item);
        ids.add(item.id);
      }
      if (ids.size === 0) subjects.delete(item.sessionId);
      else subjects.set(item.sessionId, ids);
    },
  };
}
