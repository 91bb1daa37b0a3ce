/** The table, as Markdown: what was claimed and was not true, by agent mode and in total. */
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { cpus, release, totalmem } from "node:os";
import { join } from "node:path";
import { KINDS } from "./finding.ts";
import type { Kind } from "./finding.ts";
import type { Tally, Totals } from "./tally.ts";
import { percentile } from "./tally.ts";

const ROOT = join(import.meta.dirname, "..", "..");

export function tableOf(totals: Totals): string {
  const columns = [...Object.entries(totals.byMode), ["total", totals.total] as const];
  const rows: [string, (tally: Tally) => string][] = [
    ["sessions", (tally) => String(tally.sessions)],
    ["turns", (tally) => String(tally.turns)],
    ["messages", (tally) => String(tally.messages)],
    ...(Object.keys(KINDS) as Kind[]).map((kind): [string, (tally: Tally) => string] => [
      kind.replaceAll("-", " "),
      (tally) => String(tally.counts[kind]),
    ]),
    ["messages told unknown", (tally) => String(tally.unknown)],
    ["wake delay p50", (tally) => ms(percentile(tally.wakeDelays, 0.5))],
    ["wake delay p95", (tally) => ms(percentile(tally.wakeDelays, 0.95))],
  ];
  const head = ["", ...columns.map(([name]) => name)];
  const lines = [
    head,
    head.map((_, index) => (index === 0 ? "---" : "---:")),
    ...rows.map(([name, show]) => [name, ...columns.map(([, tally]) => show(tally))]),
  ];
  return lines.map((cells) => `| ${cells.join(" | ")} |`).join("\n");
}

export function recoveryLine({ cases, kills, recoveries }: Totals): string {
  const shown = [0.5, 0.99].map((share) => ms(percentile(recoveries, share))).join(" / ");
  return `${cases} cases, ${kills} kills of the daemon; from a kill to the first answered list, p50 / p99: ${shown}.`;
}

export function ms(value: number | null): string {
  return value === null ? "–" : `${Math.round(value)} ms`;
}

/** Date, versions and machine: what a table is worth depends on them. */
export function circumstances(now = new Date()): string {
  const manifest = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as {
    readonly version: string;
    readonly devDependencies: Readonly<Record<string, string>>;
  };
  const agents = ["@anthropic-ai/claude-code", "@google/gemini-cli", "@openai/codex"].map(
    (name) => `${name} ${manifest.devDependencies[name] ?? "?"}`,
  );
  const parts = [
    now.toISOString().slice(0, 10),
    `Reeve ${manifest.version} (${commitOf()})`,
    ...agents,
    `Node ${process.versions.node}`,
    versionOf("tmux", ["-V"]),
    `Linux ${release()}`,
    `${cpus().length} cores (${cpus()[0]?.model.trim() ?? "?"}), ${Math.round(totalmem() / 2 ** 30)} GB`,
  ];
  return parts.join("; ");
}

function commitOf(): string {
  return versionOf("git", ["-C", ROOT, "rev-parse", "--short", "HEAD"]);
}

function versionOf(command: string, args: readonly string[]): string {
  try {
    return execFileSync(command, args, { encoding: "utf8" }).trim();
  } catch {
    return `${command} unknown`;
  }
}
