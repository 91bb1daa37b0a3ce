/** What `reeve help` says of the settings is what the guide says and what the daemon reads. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { defaultSettings, readSettings } from "../../src/supervisor/launch/settings.ts";
import { HELP_TOPICS } from "../../src/surface/cli/help.ts";
import { SETTINGS, topicHelp, topicOf } from "../../src/surface/cli/help-topics.ts";

const environment = { HOME: "/home/a" };

it("every setting is one that the daemon reads, with its default; and none is missing", () => {
  const directory = mkdtempSync(join(tmpdir(), "reeve-help-"));
  try {
    const path = join(directory, "config.toml");
    writeFileSync(path, `[sessions]\n${SETTINGS.map(({ name, value }) => `${name} = ${value}`).join("\n")}\n`);
    expect(readSettings(path)).toEqual(defaultSettings);
    // Without the agents, which have tables of their own.
    expect(SETTINGS).toHaveLength(Object.keys(defaultSettings).length - 1);
  } finally {
    rmSync(directory, { recursive: true });
  }
});

it("the guide says the same", () => {
  const guide = readFileSync(join(import.meta.dirname, "../../docs/guide/settings.md"), "utf8");
  const lines = SETTINGS.map(({ name, value, meaning }) => `${name} = ${value} # ${meaning}`);
  expect(guide).toContain(`[sessions]\n${lines.join("\n")}\n`);
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
