/** Notifications through the real daemon: what comes into the inbox reaches each channel. */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { askWithPass } from "../support/ask-daemon.ts";
import { eventually } from "../support/eventually.ts";
import { inHome } from "../support/in-home.ts";
import { openTerminal } from "../support/person-terminal.ts";
import { hangs, openReceiver, type Receiver } from "../support/receiver.ts";
import { passOf, startSleeper } from "../support/session-caller.ts";
import { createTestHome, type TestHome } from "../support/test-home.ts";

interface Listed {
  readonly channels: readonly {
    readonly channel: string;
    readonly pending: number;
    readonly last_sent_at: string | null;
    readonly failure: { readonly why: string } | null;
  }[];
}

let home: TestHome;
let hook: Receiver;
let stuck: Receiver;
beforeAll(async () => {
  [hook, stuck] = await Promise.all([openReceiver(), openReceiver()]);
  stuck.answer(hangs);
  home = createTestHome();
  writeFileSync(join(home.dir, "slack-url"), `${hook.url}/slack\n`, { mode: 0o600 });
  home.configure(`
[[notify]]
type = "webhook"
name = "stuck"
url = "${stuck.url}"

[[notify]]
type = "webhook"
url = "${hook.url}/hook"
mute_roles = ["scratch"]

[[notify]]
type = "ntfy"
url = "${hook.url}"
topic = "fleet"

[[notify]]
type = "slack"
url_file = "~/slack-url"

[[notify]]
type = "tmux"

[[notify]]
type = "command"
command = ["/bin/sh", "-c", 'cat >> "$0"', "${join(home.dir, "told")}"]
`);
  await home.json("daemon", "start");
});
afterAll(async () => {
  await home.dispose();
  await Promise.all([hook.stop(), stuck.stop()]);
});

const start = (name: string, ...options: readonly string[]) =>
  home.run(["start", "command", "--name", name, ...options, "--", "sh", "-c", "exit 3"]);
const listed = async (): Promise<Listed["channels"]> => (await home.json<Listed>("notify", "list")).channels;
const told = (): string => (existsSync(join(home.dir, "told")) ? readFileSync(join(home.dir, "told"), "utf8") : "");

test("what needs the operator reaches every channel, and a receiver that hangs delays nobody", async () => {
  await startSleeper(home, "sleeper");
  const person = await openTerminal(home, `${join(import.meta.dirname, "../../bin/reeve")} attach sleeper`);
  try {
    await eventually("somebody is attached", async () => (await person.screen()).includes("sleeper ("));
    await start("broken");
    await eventually("the line is shown", async () => (await person.screen()).includes("broken: "));
    await eventually("all of them have it", () => hook.received.length >= 3 && told().includes('"name":"broken"'));
    expect(hook.received.map(({ path }) => path).toSorted()).toEqual(["/fleet", "/hook", "/slack"]);
    expect(hook.received.find(({ path }) => path === "/hook")?.json).toMatchObject({
      kind: "failure",
      urgency: "failed",
      session: { name: "broken" },
      count: 1,
    });
    // The one that hangs has it, and is waited for while all others are done.
    await eventually("it reached the one that hangs", () => stuck.received.length > 0);
    const [first, ...others] = await listed();
    expect(first).toMatchObject({ channel: "stuck", pending: 1, last_sent_at: null });
    expect(others.every(({ pending, last_sent_at: at }) => pending === 0 && at !== null)).toBe(true);
  } finally {
    await person.close();
  }
});

test("a muted role is not told, where it is muted", async () => {
  const before = hook.received.length;
  await start("quiet", "--role", "scratch");
  await eventually("another channel has it", () => told().includes('"name":"quiet"'));
  expect(hook.received.slice(before).some(({ path }) => path === "/hook")).toBe(false);
});

test("a test by one channel, by all, and by none that is known", async () => {
  const before = hook.received.length;
  const one = await home.run(["notify", "test", "webhook"]);
  expect(one).toMatchObject({ status: 0, stdout: `webhook: sent to ${hook.url}: it answered 204.\n` });
  const got = hook.received.slice(before).filter(({ path }) => path === "/hook");
  expect(got.map(({ json }) => json["kind"])).toEqual(["test"]);
  const unknown = await home.run(["notify", "test", "pigeon"]);
  expect(unknown.status).toBe(2);
  expect(unknown.stderr).toContain("There is no notification channel pigeon; see reeve notify list.");
  stuck.answer((response) => void response.writeHead(410).end());
  const all = await home.run(["notify", "test"]);
  expect(all.status).toBe(1);
  expect(all.stdout).toContain(`stuck: could not be sent to ${stuck.url}: it answered 410.\n`);
  expect(all.stdout).toContain("tmux: sent to everybody who is attached to a session: nobody is attached");
});

test("doctor and the list name a channel that fails; no session may look", async () => {
  await eventually("it failed", async () => (await listed())[0]?.failure);
  const doctor = await home.run(["doctor"]);
  expect(doctor.stdout.replace(/\s+/g, " ")).toMatch(
    /warning notify stuck notifications to http:\/\/127\.0\.0\.1:\d+ fail/,
  );
  expect((await home.run(["notify"])).stdout).toMatch(/stuck +webhook +- +\d+ +failed .*: it /);
  const pass = await passOf(home, await home.session("sleeper"));
  expect(await askWithPass(home, pass, "/v1/notifications")).toMatchObject({ code: "not-allowed" });
  expect(await askWithPass(home, pass, "/v1/notifications/test", {})).toMatchObject({ code: "not-allowed" });
});

test("an address or a time zone that is none: one sentence, and nothing is sent", async () => {
  const wrong = [
    ['type = "webhook"\nurl = "nowhere"', "[[notify]] number 1: url must be an address that begins with http://"],
    [
      'type = "bell"\nquiet_hours = "22:00-07:00"\nzone = "Mars/Olympus"',
      '[[notify]] number 1: zone must be a time zone such as "Europe/Berlin"; there is none called "Mars/Olympus"',
    ],
  ] as const;
  await inHome("", async (other) => {
    for (const [table, why] of wrong) {
      other.configure(`[[notify]]\n${table}\n`);
      await other.json("daemon", "start");
      const { warnings } = await other.json<{ warnings: string[] }>("daemon", "status");
      expect(warnings.filter((warning) => warning.includes("config.toml"))).toEqual([expect.stringContaining(why)]);
      expect(await other.json<Listed>("notify", "list")).toEqual({ channels: [] });
      await other.json("daemon", "stop");
    }
  });
});
