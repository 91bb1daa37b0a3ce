/** The channels by which the operator is told of what needs them, and how each of them does. */
import * as z from "zod/mini";
import { CHANNEL_TYPES } from "../fleet/notification-settings.ts";
import { stripTerminal } from "../platform/terminal-text.ts";
import type { LaneView } from "../supervisor/notify/lane.ts";
import { defineOperation } from "./contract.ts";
import { count, instant, instantOrNull, text, whenUsed } from "./field.ts";
import { iso } from "./session-view.ts";

export const channelFields = {
  channel: text("Its name."),
  type: z.enum(CHANNEL_TYPES).check(z.describe("How it tells you.")),
  target: text("Where it sends to. Of an address only the host, because the rest may be a secret."),
};

const channelSchema = whenUsed(() =>
  z
    .object({
      ...channelFields,
      pending: count("How many items wait: for quiet hours to end, or for the receiver to answer."),
      next_at: instantOrNull("When Reeve tries the next one; null where none waits."),
      last_sent_at: instantOrNull("When something was last sent; null where nothing was yet."),
      failure: z
        .nullable(z.object({ at: instant("When that was."), why: text("What went wrong.") }))
        .check(z.describe("How it last failed, if nothing was sent since; else null.")),
    })
    .register(z.globalRegistry, { id: "NotificationChannel", description: "A way to tell you what needs you." }),
);

export const listNotifications = defineOperation({
  name: "list_notifications",
  summary: "List the notification channels of config.toml: what waits, when something was last sent, and what fails.",
  method: "GET",
  path: "/v1/notifications",
  effect: "read",
  callers: { operator: "any", session: "none" },
  example: {},
  names: [],
  input: () => z.object({}),
  output: () =>
    z.object({
      channels: z.array(channelSchema).check(z.describe("In the order of config.toml; empty where it has none.")),
    }),

  async run(_input, { supervisor }) {
    return { channels: supervisor.notifications.views().map(viewChannel) };
  },
});

function viewChannel({ channel, pending, nextAt, lastSentAt, failure }: LaneView): z.infer<typeof channelSchema> {
  return {
    channel: channel.name,
    type: channel.type,
    target: targetText(channel),
    pending,
    next_at: nextAt === null ? null : iso(nextAt),
    last_sent_at: lastSentAt === null ? null : iso(lastSentAt),
    failure: failure === null ? null : { at: iso(failure.at), why: stripTerminal(failure.why) },
  };
}

export function targetText(channel: LaneView["channel"]): string {
  switch (channel.type) {
    case "bell":
    case "tmux":
      return "everybody who is attached to a session";
    case "desktop":
      return "your desktop";
    case "webhook":
    case "ntfy":
    case "slack":
      return "url" in channel.address
        ? new URL(channel.address.url).origin
        : `the address in ${stripTerminal(channel.address.file)}`;
    case "command":
      return stripTerminal(channel.argv[0] ?? "");
  }
}
