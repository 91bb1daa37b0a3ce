/** Images in words, and the progress of a build: on a terminal one line that changes, elsewhere line by line. */
import { writeSync } from "node:fs";
import { isatty } from "node:tty";
import type { ImageProgress, OutputOf } from "../../client/operation-types.ts";
import { ReeveError } from "../../platform/reeve-error.ts";
import type { Output } from "./output.ts";
import { bytesText } from "./prune-text.ts";
import { relativeTime } from "./relative-time.ts";
import { oneLine } from "./session-text.ts";
import { type Column, layOut } from "./table.ts";
import { rulerFor } from "./text-ruler.ts";

type Image = OutputOf<"buildImage">;

const COLUMNS: readonly Column[] = [
  { title: "IMAGE", least: 16 },
  { title: "AGENTS", least: 20 },
  { title: "SIZE", dropped: 2 },
  { title: "BUILT" },
  { title: "BY REEVE", dropped: 1 },
];

export async function imageTable(
  images: readonly Image[],
  output: Pick<Output, "width">,
  now: number,
): Promise<string> {
  const rows = images.map((image) => [
    image.tags.map(shortTag).map(oneLine).join(", "),
    agentsText(image),
    bytesText(image.bytes),
    relativeTime(image.built_at, now),
    oneLine(image.reeve_version ?? "-"),
  ]);
  const cells = rows.map((row) => row.map((text) => ({ text })));
  return layOut(COLUMNS, cells, output.width, await rulerFor(rows.flat()));
}

export function builtText(image: Image, tag: string): string {
  return `Built ${oneLine(tag)}: ${agentsText(image)}, ${bytesText(image.bytes)}.`;
}

function agentsText({ agents }: Image): string {
  return agents.map(({ agent, version }) => `${agent} ${oneLine(version)}`).join(", ") || "no agents";
}

/** As people write it. */
function shortTag(tag: string): string {
  return tag.replace(/^(?:docker\.io\/library|localhost)\//, "").replace(/:latest$/, "");
}

export interface ProgressView {
  show(progress: ImageProgress): void;
  end(): void;
  /** Where only the last line was to be seen, what the step printed is shown now. */
  fail(error: unknown): void;
}

export function createProgressView(output: Output | "silent"): ProgressView {
  if (output === "silent") return { show: () => undefined, end: () => undefined, fail: () => undefined };
  return isatty(2) ? changingLine(output) : plainLines(output);
}

function stepText({ step, steps, text }: ImageProgress): string {
  return `[${step ?? "?"}/${steps ?? "?"}] ${oneLine(text)}`;
}

/** A download is told once for each thing that it says, not for each byte. */
function plainLines(output: Output): ProgressView {
  const told = new Set<string>();
  return {
    show(progress) {
      if (progress.kind === "step") return output.note(stepText(progress));
      const text = oneLine(progress.text);
      if (progress.kind === "download") {
        const what = text.replace(/ *\[[=> ]*\].*$/, "");
        if (told.has(what)) return;
        told.add(what);
        return output.note(`  ${what}`);
      }
      output.note(`  ${text}`);
    },
    end: () => undefined,
    fail: () => undefined,
  };
}

const CLEAR_LINE = "\r\u001b[K";

function changingLine(output: Output): ProgressView {
  const width = (output.width ?? 80) - 1;
  const write = (text: string): void => {
    try {
      writeSync(2, text);
    } catch {
      // a terminal that hung up: the exit status says what happened
    }
  };
  return {
    show(progress) {
      if (progress.kind === "step") write(`${CLEAR_LINE}${stepText(progress).slice(0, width)}\n`);
      else write(`${CLEAR_LINE}${`  ${oneLine(progress.text)}`.slice(0, width)}`);
    },
    end: () => write(CLEAR_LINE),
    fail(error) {
      write(CLEAR_LINE);
      const lines = error instanceof ReeveError ? error.details["output"] : null;
      if (Array.isArray(lines)) for (const line of lines) output.note(`  ${oneLine(String(line))}`);
    },
  };
}
