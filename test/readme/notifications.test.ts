/** The examples of the guide to notifications are right. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { testNotification } from "../../src/fleet/notification.ts";
import { CHANNEL_TYPES } from "../../src/fleet/notification-settings.ts";
import { parseSettings } from "../../src/supervisor/launch/settings.ts";
import { notificationJson, webhookPost } from "../../src/supervisor/notify/http-channels.ts";
import { blocksOf } from "./blocks.ts";

const guide = readFileSync(join(import.meta.dirname, "../../docs/guide/notifications.md"), "utf8");

test("every table can be read, and every type is shown", () => {
  const channels = blocksOf(guide, "toml").map((text) => parseSettings(text).notify);
  expect(channels[0]?.map(({ type }) => type)).toEqual(CHANNEL_TYPES);
  expect(channels.slice(1).every((some) => some.length === 1)).toBe(true);
});

test("the JSON has the fields that are sent", () => {
  const [text = ""] = blocksOf(guide, "json");
  const sent: unknown = JSON.parse(notificationJson(testNotification("n-1", "webhook", 0)));
  expect(Object.keys(JSON.parse(text) as object)).toEqual(Object.keys(sent as object));
});

test("the check of a signature accepts what Reeve signs, and nothing else", async () => {
  const [text = ""] = blocksOf(guide, "js");
  const { isFromReeve } = (await import(`data:text/javascript,${encodeURIComponent(text)}`)) as {
    isFromReeve: (secret: string, header: string, body: string) => boolean;
  };
  const url = new URL("http://127.0.0.1/");
  const signedAt = (now: number) => webhookPost(testNotification("n-1", "webhook", now), url, "key", now);
  const { headers, body } = signedAt(Date.now());
  const signature = headers["reeve-signature"] ?? "";
  expect(isFromReeve("key", signature, body)).toBe(true);
  expect(isFromReeve("other", signature, body)).toBe(false);
  expect(isFromReeve("key", signature, `${body} `)).toBe(false);
  expect(isFromReeve("key", signature.replace(/t=\d/, "t=9"), body)).toBe(false);
  expect(isFromReeve("key", "t=1", body)).toBe(false);
  const old = signedAt(Date.now() - 600_000);
  expect(isFromReeve("key", old.headers["reeve-signature"] ?? "", old.body)).toBe(false);
});
