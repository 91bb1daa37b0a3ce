/**
 * How each type of channel sends a notification. A `Send` resolves with what
 * came of it, or rejects with why it did not work; both are parts of a sentence.
 * It gives up when its signal fires. Secrets are read from their files each time,
 * and are in no text.
 */
import type { Notification } from "../../fleet/notification.ts";
import { type Address, addressProblem, type NotificationChannel } from "../../fleet/notification-settings.ts";
import type { Clock } from "../../platform/clock.ts";
import { readPlainFile } from "../../platform/plain-file.ts";
import { messageOf } from "../../platform/reeve-error.ts";
import type { AttachedNotice, Runtime } from "../../runtime/contract.ts";
import { desktopCall } from "./desktop.ts";
import { notificationJson, ntfyPost, slackPost, webhookPost } from "./http-channels.ts";
import { httpPost } from "./http-post.ts";
import { runOwnProgram } from "./own-program.ts";

export type Send = (notification: Notification, signal: AbortSignal) => Promise<string>;

export interface SenderParts {
  readonly runtimes: readonly Runtime[];
  /** For programs: the daemon's own, without what belongs to sessions. */
  readonly environment: Readonly<Record<string, string>>;
  readonly clock: Clock;
  readonly platform: NodeJS.Platform;
}

const LARGEST_SECRET_BYTES = 4_096;

export function createSend(channel: NotificationChannel, parts: SenderParts): Send {
  const { environment, clock } = parts;
  const read = (path: string, key: string): string => readSecret(path, key, environment["HOME"]);
  const urlOf = (address: Address): URL => {
    if ("url" in address) return new URL(address.url);
    const url = read(address.file, "url_file");
    if (addressProblem(url) !== null)
      throw new Error(`url_file ${address.file} does not hold an http or https address`);
    return new URL(url);
  };
  switch (channel.type) {
    case "bell":
      return () => toAttached(parts.runtimes, { bell: true });
    case "tmux":
      return ({ title }) => toAttached(parts.runtimes, { text: title });
    case "desktop":
      return async (notification, signal) =>
        await runOwnProgram(desktopCall(notification, { ...parts, bus: channel.bus }), signal);
    case "webhook":
      return async (notification, signal) => {
        const secret = channel.secretFile === null ? null : read(channel.secretFile, "secret_file");
        return await httpPost(webhookPost(notification, urlOf(channel.address), secret, clock.now()), signal);
      };
    case "ntfy":
      return async (notification, signal) => {
        const token = channel.tokenFile === null ? null : read(channel.tokenFile, "token_file");
        const target = { base: urlOf(channel.address), topic: channel.topic, token };
        return await httpPost(ntfyPost(notification, target), signal);
      };
    case "slack":
      return async (notification, signal) => await httpPost(slackPost(notification, urlOf(channel.address)), signal);
    case "command":
      return (notification, signal) =>
        runOwnProgram(
          {
            argv: channel.argv,
            environment: { ...environment, ...variablesOf(notification) },
            input: `${notificationJson(notification)}\n`,
          },
          signal,
        );
  }
}

/** Who nobody reaches has nobody to be told: that is no failure. */
async function toAttached(runtimes: readonly Runtime[], notice: AttachedNotice): Promise<string> {
  const counts = await Promise.all(runtimes.map(async (runtime) => (await runtime.notify?.(notice)) ?? 0));
  const people = counts.reduce((sum, one) => sum + one, 0);
  return people === 0 ? "nobody is attached to a session" : `${people} attached`;
}

/** One line without blanks around it. */
function readSecret(path: string, key: string, home: string | undefined): string {
  const whole = path.startsWith("~/") ? `${home ?? ""}${path.slice(1)}` : path;
  let text: string | null;
  try {
    text = readPlainFile(whole, LARGEST_SECRET_BYTES);
  } catch (error) {
    throw new Error(`${key} ${path} cannot be read (${messageOf(error)})`, { cause: error });
  }
  if (text === null) throw new Error(`${key} ${path} does not exist`);
  const secret = text.trim();
  // It becomes part of a header or an address.
  if (!/^[!-~]+$/.test(secret)) throw new Error(`${key} ${path} must hold one line without blanks`);
  return secret;
}

function variablesOf({ id, kind, urgency, title, text, session }: Notification): Readonly<Record<string, string>> {
  return {
    REEVE_NOTIFICATION_ID: id,
    REEVE_NOTIFICATION_KIND: kind,
    REEVE_NOTIFICATION_URGENCY: urgency,
    REEVE_NOTIFICATION_TITLE: title,
    REEVE_NOTIFICATION_TEXT: text,
    REEVE_NOTIFICATION_SESSION: session?.name ?? "",
    REEVE_NOTIFICATION_ROLE: session?.role ?? "",
  };
}
