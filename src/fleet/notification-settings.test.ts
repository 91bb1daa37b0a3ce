import { expect, test } from "vitest";
import { EVERYTHING } from "./notification-fixture.ts";
import { parseNotifications } from "./notification-settings.ts";

test("each type with what it needs; the name is the type unless one is given", () => {
  const tables = [
    { type: "bell" },
    { type: "tmux" },
    { type: "desktop", bus: "unix:path=/run/user/1000/bus" },
    { type: "webhook", url: "http://127.0.0.1:9/hook", secret_file: "~/hook.secret" },
    { type: "ntfy", url: "https://ntfy.example", topic: "fleet", token_file: "/etc/token" },
    { type: "slack", url_file: "/etc/slack" },
    { type: "command", name: "pager", command: ["page", "--me"] },
  ];
  expect(parseNotifications(tables)).toEqual([
    { ...EVERYTHING, type: "bell", name: "bell" },
    { ...EVERYTHING, type: "tmux", name: "tmux" },
    { ...EVERYTHING, type: "desktop", name: "desktop", bus: "unix:path=/run/user/1000/bus" },
    {
      ...EVERYTHING,
      type: "webhook",
      name: "webhook",
      address: { url: "http://127.0.0.1:9/hook" },
      secretFile: "~/hook.secret",
    },
    {
      ...EVERYTHING,
      type: "ntfy",
      name: "ntfy",
      address: { url: "https://ntfy.example" },
      topic: "fleet",
      tokenFile: "/etc/token",
    },
    { ...EVERYTHING, type: "slack", name: "slack", address: { file: "/etc/slack" } },
    { ...EVERYTHING, type: "command", name: "pager", argv: ["page", "--me"] },
  ]);
});

test("what is sent, and when", () => {
  const table = {
    type: "bell",
    kinds: ["failure", "approval"],
    urgencies: ["failed", "blocked"],
    roles: ["builder"],
    mute_roles: ["scratch"],
    quiet_hours: "22:00-07:00",
    zone: "Europe/Berlin",
    quiet_except: ["blocked"],
    min_interval_seconds: 1.5,
  };
  expect(parseNotifications([table])).toEqual([
    {
      type: "bell",
      name: "bell",
      kinds: ["approval", "failure"],
      urgencies: ["blocked", "failed"],
      roles: ["builder"],
      mutedRoles: ["scratch"],
      quiet: { from: 1_320, to: 420, zone: "Europe/Berlin" },
      quietExcept: ["blocked"],
      minIntervalMs: 1_500,
    },
  ]);
});

const hook = { type: "webhook", url: "http://127.0.0.1:9/" };

test.each([
  ["x", "[[notify]] must be a list of tables"],
  [["x"], "[[notify]] must be a list of tables"],
  [[{}], '[[notify]] number 1: type must be one of "bell", "tmux", "desktop"'],
  [[{ type: "pigeon" }], "[[notify]] number 1: type must be one of"],
  [[{ type: "bell", url: "http://x" }], "[[notify]] number 1: a bell channel has no setting url"],
  [[{ type: "bell", volume: 3 }], "a bell channel has no setting volume"],
  [[{ type: "bell", name: "My Bell" }], "name must be made of lower-case letters, digits and dashes"],
  [[{ type: "bell" }, { type: "bell" }], 'two [[notify]] tables have the name "bell"'],
  [[{ type: "webhook", url: "nowhere" }], "number 1: url must be an address that begins with http:// or https://"],
  [[{ type: "webhook", url: "ftp://x/" }], "url must be an address that begins with http:// or https://"],
  [[{ type: "webhook", url: "http://" }], "url must be an address that begins with http:// or https://"],
  [[{ type: "webhook", url: "http://x/ y" }], "url must be an address that begins with http:// or https://"],
  [[{ type: "webhook", url: 3 }], "url must be a text"],
  [[{ type: "webhook" }], "number 1: url_file or url must be there: it says where to send to"],
  [[{ type: "slack" }], "number 1: url_file must be there: the file that holds the address"],
  [[{ type: "webhook", url: "http://me:pw@x/" }], "url holds a password: put the address into a file"],
  [[{ ...hook, url_file: "/x" }], "url_file cannot be there together with url"],
  [[{ ...hook, secret_file: "secret" }], "secret_file must be the path of a file that begins with / or ~/"],
  [[{ type: "slack", url: "https://hooks.slack.example/T0/B0/x" }], "number 1: url is a secret here"],
  [[{ type: "ntfy", url: "http://x" }], "topic must be the name of a topic"],
  [[{ type: "ntfy", url: "http://x", topic: "a/b" }], "topic must be the name of a topic"],
  [[{ type: "command" }], "command must be a program and its arguments"],
  [[{ type: "command", command: "page me" }], "command must be a list of texts"],
  [[{ type: "command", command: [] }], "command must be a program and its arguments"],
  [[{ type: "desktop", bus: "tcp:host=x" }], "bus must be the address of a D-Bus"],
  [[{ ...hook, zone: "Europe/Berlin" }], "zone belongs to quiet_hours, which is missing"],
  [[{ ...hook, quiet_except: ["blocked"] }], "quiet_except belongs to quiet_hours, which is missing"],
  [
    [{ ...hook, quiet_hours: "22:00-07:00", zone: "Mars/Olympus" }],
    'number 1: zone must be a time zone such as "Europe/Berlin"; there is none called "Mars/Olympus"',
  ],
  [[{ ...hook, quiet_hours: "22-7" }], 'quiet_hours must be two different times such as "22:00-07:00"'],
  [[{ ...hook, urgencies: ["loud"] }], 'urgencies must be a list of some of "blocked", "failed", "finished", "other"'],
  [[{ ...hook, urgencies: [] }], "urgencies must be a list of some of"],
  [[{ ...hook, kinds: "failure" }], "kinds must be a list of texts"],
  [[{ ...hook, roles: [3] }], "roles must be a list of texts"],
  [[{ ...hook, min_interval_seconds: -1 }], "min_interval_seconds must be a number from 0 to 86400"],
  [[{ ...hook, min_interval_seconds: Number.NaN }], "min_interval_seconds must be a number from 0 to 86400"],
  [
    Array.from({ length: 21 }, (_, at) => ({ type: "bell", name: `bell-${at}` })),
    "there can be at most 20 [[notify]] tables",
  ],
])("%j is refused", (value, why) => {
  expect(() => parseNotifications(value)).toThrow(why);
});
