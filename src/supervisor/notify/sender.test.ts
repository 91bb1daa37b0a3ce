/** Each type of channel against something real that takes it. */
import { chmodSync, existsSync, readFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { eventually } from "../../../test/support/eventually.ts";
import { openNotificationDaemon } from "../../../test/support/notification-daemon.ts";
import { openReceiver, type Receiver } from "../../../test/support/receiver.ts";
import type { Notification } from "../../fleet/notification.ts";
import { channelOf } from "../../fleet/notification-fixture.ts";
import type { ChannelTarget } from "../../fleet/notification-settings.ts";
import { systemClock } from "../../platform/clock.ts";
import { findExecutable } from "../../platform/executable.ts";
import { isDead, readProcess } from "../../platform/process-table.ts";
import { desktopCall } from "./desktop.ts";
import { headerText } from "./http-channels.ts";
import { makeNotifyGround, type NotifyGround } from "./notify-fixture.ts";
import { createSend } from "./sender.ts";

const session = { id: "s1", name: "fix", role: "builder" };
const notification: Notification = {
  id: "n-1",
  kind: "approval",
  urgency: "blocked",
  title: "fix: may it run ü?",
  text: 'rm -rf <dir> & "more" <!channel> $(touch x) #{pid}',
  session,
  at: 0,
  count: 1,
  items: [{ id: "a", kind: "approval", urgency: "blocked", title: "may it run ü?", session }],
};

let ground: NotifyGround;
let receiver: Receiver;
beforeEach(async () => {
  ground = await makeNotifyGround();
  receiver = await openReceiver();
});
afterEach(async () => {
  await ground.dispose();
  await receiver.stop();
});

const environment = { PATH: process.env["PATH"] ?? "", HOME: "/nonexistent", SECRET_OF_MINE: "kept" };
const sendBy = (target: ChannelTarget, signal = new AbortController().signal, about = notification): Promise<string> =>
  createSend(channelOf(target), { runtimes: [], environment, clock: systemClock, platform: "linux" })(about, signal);

test("ntfy: topic, title, priority and tags in headers, the text as the body", async () => {
  const tokenFile = ground.file("token", "tk_1\n");
  const address = { url: `${receiver.url}/under/` };
  expect(await sendBy({ type: "ntfy", address, topic: "fleet", tokenFile })).toBe("it answered 204");
  const [got] = receiver.received;
  expect(got).toMatchObject({ path: "/under/fleet", body: notification.text });
  expect(got?.headers).toMatchObject({
    title: `=?UTF-8?B?${Buffer.from(notification.title).toString("base64")}?=`,
    priority: "4",
    tags: "reeve,approval",
    authorization: "Bearer tk_1",
    "reeve-notification-id": "n-1",
  });
});

test("ntfy: a long text stays a message, and a line break in a title is no other header", async () => {
  const about = { ...notification, title: "one\r\nPriority: 5", text: "ü".repeat(5_000) };
  const target = { type: "ntfy", address: { url: receiver.url }, topic: "t", tokenFile: null } as const;
  await sendBy(target, undefined, about);
  const [got] = receiver.received;
  expect(got?.headers).toMatchObject({ title: "one Priority: 5", priority: "4" });
  expect(Buffer.byteLength(got?.body ?? "")).toBe(3_500);
});

test("a header holds ASCII only, in words that any reader puts together", () => {
  expect(headerText("plain")).toBe("plain");
  expect(headerText("a\u0000b\tc")).toBe("a b c");
  const long = "é😀".repeat(40);
  const words = headerText(long).split(" ");
  expect(words.every((word) => word.length <= 75)).toBe(true);
  const decoded = words.map((word) => Buffer.from(word.slice("=?UTF-8?B?".length, -2), "base64").toString());
  expect(decoded.join("")).toBe(long);
  expect(headerText("=?UTF-8?B?eA==?=")).toMatch(/^=\?UTF-8\?B\?PT9/);
});

test("Slack: text in which nothing is a link or a mention", async () => {
  const file = ground.file("slack", `${receiver.url}/T0/B0/x\n`);
  await sendBy({ type: "slack", address: { file } });
  expect(receiver.received[0]).toMatchObject({
    path: "/T0/B0/x",
    json: {
      text: '*fix: may it run ü?*\nrm -rf &lt;dir&gt; &amp; "more" &lt;!channel&gt; $(touch x) #{pid}',
    },
  });
});

const isRunning = (pid: number): boolean => {
  const row = readProcess(pid);
  return row !== null && !isDead(row);
};

describe("a command of one's own", () => {
  const script = (lines: string): string => ground.file("command.sh", lines);

  test("gets it on its standard input and in variables, with no shell between", async () => {
    const path = script('cat > "$2"; env > "$2.env"; printf "%s" "$1" > "$2.argument"\n');
    const out = join(path, "..", "out");
    const said = await sendBy({ type: "command", argv: ["/bin/sh", path, "$(touch x)", out] });
    expect(said).toBe("/bin/sh ended with 0");
    expect(JSON.parse(readFileSync(out, "utf8"))).toEqual({ ...notification, at: "1970-01-01T00:00:00.000Z" });
    expect(readFileSync(`${out}.argument`, "utf8")).toBe("$(touch x)");
    const variables = readFileSync(`${out}.env`, "utf8").split("\n");
    expect(variables).toContain("SECRET_OF_MINE=kept");
    expect(variables).toContain(`REEVE_NOTIFICATION_TEXT=${notification.text}`);
    const names = variables.filter((line) => line.startsWith("REEVE_")).map((line) => line.split("=")[0]);
    expect(new Set(names)).toEqual(
      new Set(
        ["ID", "KIND", "ROLE", "SESSION", "TEXT", "TITLE", "URGENCY"].map((name) => `REEVE_NOTIFICATION_${name}`),
      ),
    );
  });

  test("that fails says how; one that is not there, too", async () => {
    const path = script("echo 'no \u001b[31msuch pager' >&2; yes >&2 & sleep 0.1; kill $!; exit 3\n");
    await expect(sendBy({ type: "command", argv: ["/bin/sh", path] })).rejects.toThrow(
      "/bin/sh ended with 3: no such pager",
    );
    await expect(sendBy({ type: "command", argv: ["/no/such/pager"] })).rejects.toThrow(
      "/no/such/pager could not be run (spawn /no/such/pager ENOENT)",
    );
  });

  test("that hangs is killed with everything in its group", async () => {
    const path = script('sleep 600 & echo "$! $$" > "$1"; wait\n');
    const out = join(path, "..", "pids");
    const giveUp = new AbortController();
    const sending = sendBy({ type: "command", argv: ["/bin/sh", path, out] }, giveUp.signal);
    sending.catch(() => undefined);
    try {
      const pids = await eventually("it hangs", () =>
        existsSync(out)
          ? readFileSync(out, "utf8")
              .match(/^(\d+) (\d+)\n$/)
              ?.slice(1)
              .map(Number)
          : null,
      );
      expect(pids.every((pid) => isRunning(pid))).toBe(true);
      giveUp.abort();
      await expect(sending).rejects.toThrow("/bin/sh was killed by SIGKILL");
      await eventually("nothing of it is left", () => pids.every((pid) => !isRunning(pid)));
    } finally {
      giveUp.abort();
    }
  });
});

describe("desktop", () => {
  const desktop = { platform: "linux", environment: { PATH: "/nonexistent" }, bus: null } as const;
  const missing = ["notify-send", "dbus-daemon"].filter(
    (program) => findExecutable(program, { cwd: "/", path: process.env["PATH"] }) === null,
  );
  const why = missing.length === 0 ? "" : ` (skipped: ${missing.join(" and ")} not installed)`;

  test.skipIf(missing.length > 0)(`the real notify-send on a private D-Bus${why}`, async () => {
    const daemon = await openNotificationDaemon();
    try {
      const about = { ...notification, title: "--help" };
      expect(await sendBy({ type: "desktop", bus: daemon.bus }, undefined, about)).toMatch(/notify-send ended with 0$/);
      expect(daemon.shown).toMatchObject([
        {
          app: "reeve",
          summary: "--help",
          body: 'rm -rf &lt;dir&gt; &amp; "more" &lt;!channel&gt; $(touch x) #{pid}',
          hints: { urgency: 2 },
        },
      ]);
    } finally {
      await daemon.close();
    }
  });

  test("says what is missing", () => {
    expect(() => desktopCall(notification, desktop)).toThrow("there is no notify-send on the daemon's PATH");
    const path = ground.file("notify-send", "");
    const PATH = join(path, "..");
    // Not executable.
    expect(() => desktopCall(notification, { ...desktop, environment: { PATH } })).toThrow("there is no notify-send");
    chmodSync(path, 0o700);
    const environment = { PATH, XDG_RUNTIME_DIR: PATH };
    expect(() => desktopCall(notification, { ...desktop, environment })).toThrow(
      "the daemon was started outside of a desktop session: DBUS_SESSION_BUS_ADDRESS is not set.",
    );
  });

  test("finds the D-Bus where it usually is", async () => {
    const path = ground.file("notify-send", "");
    chmodSync(path, 0o700);
    const PATH = join(path, "..");
    const server = createServer().listen(join(PATH, "bus"));
    await new Promise((resolve) => server.once("listening", resolve));
    try {
      const busIn = (more: Readonly<Record<string, string>>, bus: string | null = null): string | undefined => {
        const environment = { PATH, XDG_RUNTIME_DIR: PATH, ...more };
        return desktopCall(notification, { ...desktop, bus, environment }).environment["DBUS_SESSION_BUS_ADDRESS"];
      };
      expect(busIn({})).toBe(`unix:path=${PATH}/bus`);
      expect(busIn({ DBUS_SESSION_BUS_ADDRESS: "unix:path=/x" })).toBe("unix:path=/x");
      expect(busIn({ DBUS_SESSION_BUS_ADDRESS: "unix:path=/x" }, "unix:path=/y")).toBe("unix:path=/y");
    } finally {
      await new Promise((resolve) => server.close(resolve));
    }
  });

  test("macOS: the texts are arguments, never part of the script", () => {
    const about = { ...notification, text: '" & (do shell script "touch x") & "' };
    const { argv } = desktopCall(about, { ...desktop, platform: "darwin" });
    expect(argv.slice(1)).toEqual([
      "-e",
      "on run argv",
      "-e",
      "display notification (item 2 of argv) with title (item 1 of argv)",
      "-e",
      "end run",
      about.title,
      about.text,
    ]);
  });
});
