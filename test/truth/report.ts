/** The table, as Markdown: what was claimed and was not true, by agent mode and in total. */
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { cpus, release, totalmem } from "node:os";
import { join } from "node:path";
import { agentVersions } from "../agent-programs/agent-programs.ts";
import { formatCase } from "./case.ts";
import { KINDS } from "./finding.ts";
import type { Kind } from "./finding.ts";
import type { KillResult } from "./kills.ts";
import type { Options } from "./options.ts";
import type { Tally, Totals } from "./tally.ts";
import { percentile } from "./tally.ts";
import type { Failure } from "./truth-run.ts";

const ROOT = join(import.meta.dirname, "..", "..");

export function truthText(totals: Totals, { seed, minutes }: Pick<Options, "seed" | "minutes">): string {
  return `${circumstances()}; ${minutes} minutes, seed ${seed}.\n\n${tableOf(totals)}\n\n${recoveryLine(totals)}`;
}

/** One paragraph for each kind of failure, with the command that shows it again. */
export function failuresText(failures: readonly Failure[]): string {
  if (failures.length === 0) return "Nothing that was claimed was untrue.";
  return failures
    .toSorted((one, other) => other.times - one.times)
    .map(({ mode, kind, times, finding, name, theCase }) =>
      [
        `${mode}, ${kind} (${times} in this run): ${KINDS[kind]}`,
        `  for example, in ${name}: ${finding.text}`,
        `  npm run truth -- --repeat '${formatCase(theCase)}'`,
      ].join("\n"),
    )
    .join("\n\n");
}

export function tableOf(totals: Totals): string {
  const columns = [...Object.entries(totals.byMode), ["total", totals.total] as const];
  const rows: [string, (tally: Tally) => string][] = [
    ["sessions", (tally) => String(tally.sessions)],
    ["turns", (tally) => String(tally.turns)],
    ["messages", (tally) => String(tally.messages)],
    ...(Object.keys(KINDS) as Kind[]).map((kind): [string, (tally: Tally) => string] => [
      `**${kind.replaceAll("-", " ")}**`,
      (tally) => String(tally.counts[kind]),
    ]),
    ["messages told unknown", (tally) => String(tally.unknown)],
    ["verdicts corrected later", (tally) => String(tally.corrected)],
    ["wake delay p50", (tally) => ms(percentile(tally.wakeDelays, 0.5))],
    ["wake delay p95", (tally) => ms(percentile(tally.wakeDelays, 0.95))],
  ];
  return markdown([
    ["", ...columns.map(([name]) => name)],
    ...rows.map(([name, show]) => [name, ...columns.map(([, tally]) => show(tally))]),
  ]);
}

export function recoveryLine({ cases, kills, recoveries }: Totals): string {
  return `${cases} cases, ${kills} kills of the daemon; from a kill to the first answered list, p50 / p99: ${spread(recoveries)}.`;
}

export function killsText(result: KillResult, seed: string): string {
  const { kills, sessions, sent, delivered, unknown, refused, unacknowledged, operations, recoveries, findings } =
    result;
  const count = (...kinds: readonly Kind[]): string =>
    String(findings.filter(({ kind }) => kinds.includes(kind)).length);
  const rows = [
    ["", ""],
    ["kill -9 of the daemon", String(kills)],
    ["sessions", String(sessions)],
    ["messages", String(sent)],
    ["delivered / unknown / refused", `${delivered} / ${unknown} / ${refused}`],
    ["other operations acknowledged", String(operations)],
    ["**lost** (messages and operations)", count("lost", "swallowed", "wrong-outcome")],
    ["**doubled**", count("doubled")],
    ["**fused**", count("fused")],
    ["**reordered**", count("reordered")],
    ["**orphaned** (processes, panes, sessions)", count("left-behind", "false-ended")],
    ["**daemons that died unasked**", count("daemon-died")],
    ["**commands that failed**", count("command-failed")],
    ["of these, messages not acknowledged", String(unacknowledged)],
    ["from a kill to the first answered list, p50 / p99", spread(recoveries)],
  ];
  return `${circumstances()}; seed ${seed}.\n\n${markdown(rows)}`;
}

function spread(values: readonly number[]): string {
  return [0.5, 0.99].map((share) => ms(percentile(values, share))).join(" / ");
}

function markdown(rows: readonly (readonly string[])[]): string {
  const [head = [], ...body] = rows;
  const rule = head.map((_, index) => (index === 0 ? "---" : "---:"));
  return [head, rule, ...body].map((cells) => `| ${cells.join(" | ")} |`).join("\n");
}

export function ms(value: number | null): string {
  return value === null ? "–" : `${Math.round(value)} ms`;
}

/** Date, versions and machine: what a table is worth depends on them. */
export function circumstances(now = new Date()): string {
  const manifest = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as {
    readonly version: string;
  };
  const parts = [
    now.toISOString().slice(0, 10),
    `Reeve ${manifest.version} (${commitOf()})`,
    ...agentVersions(),
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
