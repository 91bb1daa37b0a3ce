/** What a webhook, ntfy and Slack (or what takes the same) are sent. Pure. */
import { createHmac } from "node:crypto";
import type { Notification } from "../../fleet/notification.ts";
import type { InboxUrgency } from "../../session/inbox-kind.ts";
import type { HttpPost } from "./http-post.ts";
import { escapeMarkup } from "./markup.ts";

/** The same for each attempt, so that a receiver can tell that it has had this one. */
const ID_HEADER = "reeve-notification-id";
const SIGNATURE_HEADER = "reeve-signature";

/** What is sent by a webhook, and to a command on its standard input. */
export function notificationJson(notification: Notification): string {
  const { id, kind, urgency, title, text, session, count, items } = notification;
  const at = new Date(notification.at).toISOString();
  return JSON.stringify({ id, kind, urgency, title, text, session, at, count, items });
}

/** `secret`: signs when it was sent together with the body, so that neither can be changed or used again much later. */
export function webhookPost(notification: Notification, url: URL, secret: string | null, now: number): HttpPost {
  const body = notificationJson(notification);
  const sentAt = Math.floor(now / 1_000);
  return {
    url,
    body,
    headers: {
      ...headersOf(notification, "application/json"),
      ...(secret === null ? {} : { [SIGNATURE_HEADER]: `t=${sentAt},v1=${signatureOf(secret, sentAt, body)}` }),
    },
  };
}

function signatureOf(secret: string, sentAt: number, body: string): string {
  return createHmac("sha256", secret).update(`${sentAt}.${body}`).digest("hex");
}

/** As ntfy counts them: 5 makes noise even where the phone is silent, which nobody asked for. */
const NTFY_PRIORITY = { blocked: 4, failed: 4, finished: 3, other: 2 } as const satisfies Record<InboxUrgency, number>;
/** ntfy makes an attachment of anything above 4,096 bytes. */
const MOST_NTFY_BYTES = 3_500;

export function ntfyPost(
  notification: Notification,
  target: { readonly base: URL; readonly topic: string; readonly token: string | null },
): HttpPost {
  const { kind, urgency, title, text } = notification;
  const url = new URL(target.base);
  url.pathname = `${url.pathname.replace(/\/+$/, "")}/${target.topic}`;
  return {
    url,
    body: firstBytes(text === "" ? title : text, MOST_NTFY_BYTES),
    headers: {
      ...headersOf(notification, "text/plain; charset=utf-8"),
      title: headerText(title),
      priority: String(NTFY_PRIORITY[urgency]),
      tags: `reeve,${kind}`,
      ...(target.token === null ? {} : { authorization: `Bearer ${target.token}` }),
    },
  };
}

export function slackPost(notification: Notification, url: URL): HttpPost {
  const { title, text } = notification;
  const said = `*${escapeMarkup(title)}*${text === "" ? "" : `\n${escapeMarkup(text)}`}`;
  return { url, body: JSON.stringify({ text: said }), headers: headersOf(notification, "application/json") };
}

function headersOf({ id }: Notification, type: string): Readonly<Record<string, string>> {
  return { "content-type": type, "user-agent": "reeve", [ID_HEADER]: id };
}

/** Headers are ASCII; anything else is written as RFC 2047 has it, in words of at most 75 characters. */
export function headerText(text: string): string {
  const line = text.replace(/[\u0000-\u001f\u007f]+/g, " ");
  // What looks like an encoded word would be decoded.
  if (/^[ -~]*$/.test(line) && !line.includes("=?")) return line;
  const words: string[] = [];
  let rest = line;
  while (rest !== "") {
    const part = firstBytes(rest, ENCODED_BYTES);
    words.push(`=?UTF-8?B?${Buffer.from(part).toString("base64")}?=`);
    rest = rest.slice(part.length);
  }
  return words.join(" ");
}

/** In base64 with what stands around it: 72 characters. */
const ENCODED_BYTES = 45;

/** At most so many bytes, no character halved. */
function firstBytes(text: string, most: number): string {
  let bytes = 0;
  let end = 0;
  for (const character of text) {
    bytes += Buffer.byteLength(character);
    if (bytes > most) break;
    end += character.length;
  }
  return text.slice(0, end);
}
