/** For tests only: events of the inbox, and channels that take all of them. */
import type { InboxEvent } from "../session/home-event.ts";
import type { InboxUrgency } from "../session/inbox-kind.ts";
import type { OpenedItem } from "./notification.ts";
import type { ChannelTarget, ChannelWishes, NotificationChannel } from "./notification-settings.ts";

/** All of it, at once. */
export const EVERYTHING: Omit<ChannelWishes, "name"> = {
  kinds: null,
  urgencies: null,
  roles: null,
  mutedRoles: [],
  quiet: null,
  quietExcept: [],
  minIntervalMs: 0,
};

export function openedBody(
  itemId: string,
  changes: Partial<OpenedItem["body"]> & { readonly urgency?: InboxUrgency } = {},
): OpenedItem["body"] {
  return {
    type: "inbox-opened",
    itemId,
    kind: "failure",
    urgency: "failed",
    title: `${itemId} failed`,
    text: `What happened to ${itemId}.`,
    ...changes,
  };
}

export function clearedBody(
  itemId: string,
  how: "closed" | "acknowledged" | "snoozed",
): Exclude<InboxEvent, { readonly type: "inbox-opened" }> {
  switch (how) {
    case "closed":
      return { type: "inbox-closed", itemId, kind: "failure", why: "It was restarted." };
    case "acknowledged":
      return { type: "inbox-acknowledged", itemId };
    case "snoozed":
      return { type: "inbox-snoozed", itemId, untilAt: 0 };
  }
}

export function channelOf(
  target: ChannelTarget,
  wishes: Partial<Omit<NotificationChannel, keyof ChannelTarget>> = {},
): NotificationChannel {
  return { name: target.type, ...EVERYTHING, ...wishes, ...target };
}
