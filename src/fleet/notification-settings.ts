/**
 * The `[[notify]]` tables of config.toml: one for each channel by which the
 * operator is told of what needs them. Pure: files that hold secrets are named
 * here and read when something is sent. Throws one sentence that names the key.
 *
 *     [[notify]]
 *     type = "webhook"                 # bell, tmux, desktop, webhook, ntfy, slack or command
 *     name = "pager"                   # by default the type
 *     url = "https://example.com/hook" # or url_file
 *     secret_file = "~/.config/reeve/pager.secret"
 *     urgencies = ["blocked", "failed"]
 *     mute_roles = ["scratch"]
 *     quiet_hours = "22:00-07:00"
 *     zone = "Europe/Berlin"
 *     quiet_except = ["blocked"]
 *     min_interval_seconds = 60
 */
import { INBOX_KINDS, INBOX_URGENCIES, type InboxKind, type InboxUrgency } from "../session/inbox-kind.ts";
import { isZone, parseQuietHours, type QuietHours } from "./quiet-hours.ts";

export type NotificationChannel = ChannelWishes & ChannelTarget;

/** What is sent by it, and when. */
export interface ChannelWishes {
  readonly name: string;
  /** Null: all of them. */
  readonly kinds: readonly InboxKind[] | null;
  readonly urgencies: readonly InboxUrgency[] | null;
  readonly roles: readonly string[] | null;
  readonly mutedRoles: readonly string[];
  readonly quiet: QuietHours | null;
  /** Sent in quiet hours, too. */
  readonly quietExcept: readonly InboxUrgency[];
  readonly minIntervalMs: number;
}

export type ChannelTarget =
  | { readonly type: "bell" | "tmux" }
  | {
      readonly type: "desktop";
      /** Of the D-Bus session; null: the daemon's own. */
      readonly bus: string | null;
    }
  | { readonly type: "webhook"; readonly address: Address; readonly secretFile: string | null }
  | { readonly type: "ntfy"; readonly address: Address; readonly topic: string; readonly tokenFile: string | null }
  | { readonly type: "slack"; readonly address: Address }
  | { readonly type: "command"; readonly argv: readonly string[] };

/** Where to send to: as it is, or the path of a file that holds it because it is a secret. */
export type Address = { readonly url: string } | { readonly file: string };

export type ChannelType = ChannelTarget["type"];

/** Which keys belong to which type, beside those that belong to all. */
const KEYS: Readonly<Record<ChannelType, readonly string[]>> = {
  bell: [],
  tmux: [],
  desktop: ["bus"],
  webhook: ["url", "url_file", "secret_file"],
  ntfy: ["url", "url_file", "topic", "token_file"],
  slack: ["url_file"],
  command: ["command"],
};
export const CHANNEL_TYPES = ["bell", "tmux", "desktop", "webhook", "ntfy", "slack", "command"] as const;
const COMMON = [
  "type",
  "name",
  "kinds",
  "urgencies",
  "roles",
  "mute_roles",
  "quiet_hours",
  "zone",
  "quiet_except",
  "min_interval_seconds",
];

const NAME = /^[a-z0-9][a-z0-9-]{0,31}$/;
const TOPIC = /^[A-Za-z0-9_-]{1,64}$/;
/** Each has a record, a timer and, at worst, a connection of its own. */
const MOST_CHANNELS = 20;
const LONGEST_INTERVAL_SECONDS = 86_400;

type Table = Readonly<Record<string, unknown>>;

export function parseNotifications(value: unknown): readonly NotificationChannel[] {
  if (!Array.isArray(value) || !value.every(isTable)) throw new Error("[[notify]] must be a list of tables");
  if (value.length > MOST_CHANNELS) throw new Error(`there can be at most ${MOST_CHANNELS} [[notify]] tables`);
  const channels = value.map((table, index) => parseChannel(table, `[[notify]] number ${index + 1}`));
  const names = channels.map(({ name }) => name);
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined)
    throw new Error(`two [[notify]] tables have the name "${twice}"; give each a name of its own`);
  return channels;
}

function isTable(value: unknown): value is Table {
  return typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof Date);
}

function parseChannel(table: Table, where: string): NotificationChannel {
  const read = readerOf(table, where);
  const type = CHANNEL_TYPES.find((known) => known === table["type"]);
  if (type === undefined) throw read.wrong("type", `must be one of ${listed(CHANNEL_TYPES)}`);
  const unknown = Object.keys(table).find((key) => !COMMON.includes(key) && !KEYS[type].includes(key));
  if (unknown !== undefined) {
    const isSecret = type === "slack" && unknown === "url";
    throw isSecret
      ? read.wrong("url", "is a secret here: put the address into a file and name that file in url_file")
      : new Error(`${where}: a ${type} channel has no setting ${unknown}`);
  }
  return { ...wishesOf(read, type), ...targetOf(type, read) };
}

function wishesOf(read: Reader, type: ChannelType): ChannelWishes {
  const name = read.text("name") ?? type;
  if (!NAME.test(name)) throw read.wrong("name", "must be made of lower-case letters, digits and dashes");
  const seconds = read.value("min_interval_seconds") ?? 0;
  if (typeof seconds !== "number" || !(seconds >= 0 && seconds <= LONGEST_INTERVAL_SECONDS))
    throw read.wrong("min_interval_seconds", `must be a number from 0 to ${LONGEST_INTERVAL_SECONDS}`);
  return {
    name,
    kinds: read.some("kinds", INBOX_KINDS),
    urgencies: read.some("urgencies", INBOX_URGENCIES),
    roles: read.words("roles"),
    mutedRoles: read.words("mute_roles") ?? [],
    quiet: quietOf(read),
    quietExcept: read.some("quiet_except", INBOX_URGENCIES) ?? [],
    minIntervalMs: seconds * 1_000,
  };
}

function quietOf(read: Reader): QuietHours | null {
  const hours = read.text("quiet_hours");
  const zone = read.text("zone");
  if (zone !== null && !isZone(zone))
    throw read.wrong("zone", `must be a time zone such as "Europe/Berlin"; there is none called "${shown(zone)}"`);
  if (hours === null) {
    const stray = ["zone", "quiet_except"].find((key) => read.value(key) !== undefined);
    if (stray !== undefined) throw read.wrong(stray, "belongs to quiet_hours, which is missing");
    return null;
  }
  const quiet = parseQuietHours(hours, zone);
  if (quiet === null) throw read.wrong("quiet_hours", 'must be two different times such as "22:00-07:00"');
  return quiet;
}

function targetOf(type: ChannelType, read: Reader): ChannelTarget {
  switch (type) {
    case "bell":
    case "tmux":
      return { type };
    case "desktop": {
      const bus = read.text("bus");
      if (bus !== null && !/^unix:[!-~]+$/.test(bus))
        throw read.wrong("bus", 'must be the address of a D-Bus such as "unix:path=/run/user/1000/bus"');
      return { type, bus };
    }
    case "webhook":
      return { type, address: addressOf(read), secretFile: read.path("secret_file") };
    case "ntfy": {
      const topic = read.text("topic");
      if (topic === null || !TOPIC.test(topic))
        throw read.wrong("topic", "must be the name of a topic: up to 64 letters, digits, dashes and underscores");
      return { type, address: addressOf(read), topic, tokenFile: read.path("token_file") };
    }
    case "slack":
      if (read.path("url_file") === null)
        throw read.wrong("url_file", "must be there: the file that holds the address");
      return { type, address: addressOf(read) };
    case "command": {
      const argv = read.words("command");
      if (argv === null || argv.length === 0)
        throw read.wrong("command", 'must be a program and its arguments such as ["/usr/local/bin/page", "me"]');
      return { type, argv };
    }
  }
}

function addressOf(read: Reader): Address {
  const url = read.text("url");
  const file = read.path("url_file");
  if (file !== null && url !== null) throw read.wrong("url_file", "cannot be there together with url");
  if (file !== null) return { file };
  if (url === null) throw read.wrong("url_file", "or url must be there: it says where to send to");
  const wrong = addressProblem(url);
  if (wrong !== null) throw read.wrong("url", wrong);
  if (new URL(url).password !== "")
    throw read.wrong("url", "holds a password: put the address into a file and name that file in url_file");
  return { url };
}

/** Null where something can be sent there. The address itself is not repeated: it may be a secret. */
export function addressProblem(url: string): string | null {
  const parsed = URL.parse(url);
  if (parsed === null || !/^https?:$/.test(parsed.protocol) || !/^[!-~]+$/.test(url))
    return "must be an address that begins with http:// or https://";
  return null;
}

/** Reads one table; what is wrong with a key is told with the table's place. */
function readerOf(table: Table, where: string) {
  const wrong = (key: string, problem: string): Error => new Error(`${where}: ${key} ${problem}`);
  const text = (key: string): string | null => {
    const value = table[key];
    if (value === undefined) return null;
    if (typeof value !== "string" || value === "") throw wrong(key, "must be a text");
    return value;
  };
  const words = (key: string): readonly string[] | null => {
    const value = table[key];
    if (value === undefined) return null;
    const isList = Array.isArray(value) && value.every((word) => typeof word === "string" && !word.includes("\0"));
    if (!isList) throw wrong(key, "must be a list of texts");
    return value as readonly string[];
  };
  return {
    wrong,
    text,
    words,
    value: (key: string): unknown => table[key],
    path(key: string): string | null {
      const path = text(key);
      if (path !== null && !/^(?:\/|~\/)[^\0]+$/.test(path))
        throw wrong(key, "must be the path of a file that begins with / or ~/");
      return path;
    },
    some<Known extends string>(key: string, known: readonly Known[]): readonly Known[] | null {
      const given = words(key);
      const foreign = given?.find((word) => !known.some((one) => one === word));
      if (foreign !== undefined || given?.length === 0) throw wrong(key, `must be a list of some of ${listed(known)}`);
      return given === null ? null : known.filter((one) => given.includes(one));
    },
  };
}

type Reader = ReturnType<typeof readerOf>;

function listed(words: readonly string[]): string {
  return words.map((word) => `"${word}"`).join(", ");
}

function shown(text: string): string {
  return JSON.stringify(text.slice(0, 64)).slice(1, -1);
}
