/** The results as a person reads them. */
import { cpus, loadavg, release } from "node:os";
import { execFileSync } from "node:child_process";
import { isMet, type Row, type Summary, type Unit } from "./measure.ts";

export interface About {
  readonly cores: number;
  readonly processor: string;
  readonly kernel: string;
  readonly node: string;
  readonly tmux: string;
  readonly commit: string;
  readonly loadAverage: readonly number[];
}

export function describeMachine(): About {
  const processors = cpus();
  return {
    cores: processors.length,
    processor: processors[0]?.model ?? "unknown",
    kernel: release(),
    node: process.version,
    tmux: firstLineOf("tmux", ["-V"]),
    commit: firstLineOf("git", ["describe", "--always", "--dirty"]),
    loadAverage: loadavg().map((value) => Number(value.toFixed(2))),
  };
}

export function aboutLines({ cores, processor, kernel, node, tmux, commit, loadAverage }: About): readonly string[] {
  return [
    `machine  ${cores} cores (${processor}), Linux ${kernel}, load ${loadAverage.join(" ")}`,
    `with     Node ${node}, ${tmux}, Reeve ${commit}`,
    "figures  median / p90; × is the median of the rounds' own ratios",
  ];
}

export function rowLines(row: Row): readonly string[] {
  const verdict = { true: "met", false: "NOT met", null: "" }[String(isMet(row)) as "true" | "false" | "null"];
  const isRatio = row.limit === null || row.limit.of === "ratio";
  const ratio = isRatio ? `${row.ratio.toFixed(2)}×` : `${number(row.subject.median)} ${row.unit}`;
  const head = `  ${row.what.padEnd(38)} ${ratio.padStart(8)}  ${limitText(row).padEnd(9)} ${verdict}`.trimEnd();
  const figures = `    ${show(row.subject, row.unit)} against ${show(row.baseline, row.unit)} (${row.baselineName})`;
  return [head, row.note === null ? figures : `${figures}; ${row.note}`];
}

function limitText({ limit, unit }: Row): string {
  if (limit === null) return "";
  const sign = limit.kind === "at-most" ? "≤" : "≥";
  return limit.of === "ratio" ? `${sign} ${limit.value}×` : `${sign} ${limit.value} ${unit}`;
}

function show({ median, p90, count }: Summary, unit: Unit): string {
  return count === 1 ? `${number(median)} ${unit}` : `${number(median)} / ${number(p90)} ${unit}`;
}

function number(value: number): string {
  if (value >= 1_000) return Math.round(value).toLocaleString("en");
  return value.toFixed(value >= 100 ? 0 : value >= 10 ? 1 : value >= 1 ? 2 : 3);
}

function firstLineOf(command: string, args: readonly string[]): string {
  try {
    return execFileSync(command, args, {
      cwd: import.meta.dirname,
      encoding: "utf8",
      stdio: ["ignore", "pipe", "ignore"],
    }).trim();
  } catch {
    return "unknown";
  }
}
