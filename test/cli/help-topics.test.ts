/** What `reeve help` says of the settings is what the guide says and what the daemon reads. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { defaultSettings, readSettings } from "../../src/supervisor/launch/settings.ts";
import { HELP_TOPICS } from "../../src/surface/cli/help.ts";
import { chosenTimeOuts, DEFAULT_TIME_OUTS, TIME_OUT_NAMES } from "../../src/session/time-out.ts";
import {
  GIT_SETTINGS,
  QUOTA_SETTINGS,
  RETENTION_SETTINGS,
  SETTINGS,
  TIMEOUT_SETTINGS,
  WORK_SETTINGS,
  topicHelp,
  topicOf,
} from "../../src/surface/cli/help-topics.ts";

/** What has tables of its own in the file, beside [sessions]. */
const TABLES = [
  "agents",
  "roles",
  "approvalRules",
  "notify",
  "docker",
  "git",
  "memory",
  "quota",
  "retention",
  "timeouts",
  "work",
];

const environment = { HOME: "/home/a" };

it("every setting is one that the daemon reads, with its default; and none is missing", () => {
  const directory = mkdtempSync(join(tmpdir(), "reeve-help-"));
  try {
    const path = join(directory, "config.toml");
    const lines = (settings: typeof SETTINGS): string =>
      settings.map(({ name, value }) => `${name} = ${value}\n`).join("");
    const tables = `[git]\n${lines(GIT_SETTINGS)}[quota]\n${lines(QUOTA_SETTINGS)}[retention]\n${lines(RETENTION_SETTINGS)}[timeouts]\n${lines(TIMEOUT_SETTINGS)}[work]\n${lines(WORK_SETTINGS)}`;
    writeFileSync(path, `[sessions]\n${lines(SETTINGS)}${tables}`);
    const { timeouts, ...settings } = readSettings(path);
    expect({ ...settings, timeouts: {} }).toEqual(defaultSettings);
    const chosen = chosenTimeOuts({ start: {}, role: {}, agent: {}, settings: timeouts });
    for (const name of TIME_OUT_NAMES) expect(chosen[name]).toEqual({ ...DEFAULT_TIME_OUTS[name], from: "settings" });
    const { switches, ...others } = defaultSettings;
    const names = [...Object.keys(switches), ...Object.keys(others).filter((key) => !TABLES.includes(key))];
    expect(SETTINGS).toHaveLength(names.length);
    expect(QUOTA_SETTINGS).toHaveLength(Object.keys(defaultSettings.quota).length);
    expect(RETENTION_SETTINGS).toHaveLength(Object.keys(defaultSettings.retention).length);
    expect(WORK_SETTINGS).toHaveLength(Object.keys(defaultSettings.work).length);
    // Without the place of worktrees.
    expect(GIT_SETTINGS).toHaveLength(Object.keys(defaultSettings.git).length - 1);
  } finally {
    rmSync(directory, { recursive: true });
  }
});

it("the guide says the same", () => {
  const guide = readFileSync(join(import.meta.dirname, "../../docs/guide/settings.md"), "utf8");
  const lines = (settings: typeof SETTINGS): string =>
    settings.map(({ name, value, meaning }) => `${name} = ${value} # ${meaning}\n`).join("");
  expect(guide).toContain(`[sessions]\n${lines(SETTINGS)}`);
  expect(guide).toContain(`[timeouts]\n${lines(TIMEOUT_SETTINGS)}`);
  expect(guide).toContain(`[quota]\n${lines(QUOTA_SETTINGS)}`);
  expect(guide).toContain(`[work]\n${lines(WORK_SETTINGS)}`);
  expect(guide).toContain(`[retention]\n${lines(RETENTION_SETTINGS)}`);
  for (const { name, meaning } of GIT_SETTINGS) expect(guide).toMatch(new RegExp(`\n${name} = .* # ${meaning}\n`));
});

it("files are shown where they are for this user", () => {
  const text = topicHelp(topicOf("files", environment));
  expect(text).toContain("\n  /home/a/.config/reeve/config.toml ");
  expect(topicHelp(topicOf("files", { ...environment, REEVE_HOME: "/r" }))).toContain("\n  /r/run/reeve.sock ");
});

it.each(HELP_TOPICS)("%s has a title, rows and notes, in whole sentences", (topic) => {
  const { title, rows, notes } = topicOf(topic, environment);
  expect(title).toMatch(/^[A-Z].*\.$/);
  expect(rows.length).toBeGreaterThan(3);
  expect(notes.length).toBeGreaterThan(0);
});
