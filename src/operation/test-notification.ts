/** Sends a test by one notification channel, or by all, and says what came of it. */
import * as z from "zod/mini";
import { stripTerminal } from "../platform/terminal-text.ts";
import { defineOperation } from "./contract.ts";
import { text, yesOrNo } from "./field.ts";
import { channelFields, targetText } from "./list-notifications.ts";

export const testNotification = defineOperation({
  name: "test_notification",
  summary: "Send a test by a notification channel now, also in quiet hours, and report what came of it.",
  method: "POST",
  path: "/v1/notifications/test",
  effect: "change",
  callers: { operator: "any", session: "none" },
  example: { channel: "pager" },
  names: [],
  about: ["channel"],
  input: () =>
    z.object({
      channel: z
        .optional(z.string().check(z.maxLength(32)))
        .check(z.describe("The name of the channel; by default all of them.")),
    }),
  output: () =>
    z.object({
      channels: z
        .array(
          z.object({
            ...channelFields,
            sent: yesOrNo("Whether it was sent."),
            what: text("What came of it, or why it did not work: the part of a sentence."),
          }),
        )
        .check(z.describe("What came of each.")),
    }),

  async run(input, { supervisor }) {
    const tested = await supervisor.notifications.test(input.channel ?? null);
    return {
      channels: tested.map(({ channel, isSent, what }) => ({
        channel: channel.name,
        type: channel.type,
        target: targetText(channel),
        sent: isSent,
        what: stripTerminal(what),
      })),
    };
  },
});
