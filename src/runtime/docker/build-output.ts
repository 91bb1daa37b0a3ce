/**
 * What the engine's builder says, line by line: which step it does, what that
 * prints, how far a download is, which image came of it, and why it failed.
 */
import { stripTerminal } from "../../platform/terminal-text.ts";
import type { BuildProgress } from "../images.ts";

export interface BuildOutput {
  take(line: unknown): void;
  /** The image of the last step; null before there is one. */
  readonly imageId: () => string | null;
  /** What the builder said last, if it failed. */
  readonly failure: () => BuildFailure | null;
}

export interface BuildFailure {
  /** The builder's own words. */
  readonly reason: string;
  /** The step that failed, as the Dockerfile has it; null before the first one. */
  readonly step: string | null;
  /** The end of what that step printed. */
  readonly lines: readonly string[];
}

/** Enough to see what went wrong; npm's and apt's reasons stand in the last ones. */
const MOST_LINES = 20;
const MOST_LINE_CHARACTERS = 500;

/** `values`: of the build's arguments, which the builder leaves as they are named. */
export function createBuildOutput(
  tell: (progress: BuildProgress) => void,
  values: Readonly<Record<string, string>> = {},
): BuildOutput {
  let imageId: string | null = null;
  let reason: string | null = null;
  let step: string | null = null;
  let lines: string[] = [];

  const takeText = (text: string): void => {
    const [, number, all, command] = /^step (\d+)\/(\d+) ?: (.*)$/i.exec(text) ?? [];
    if (command !== undefined) {
      step = command.replace(/"?\$\{(\w+)\}"?/g, (whole, name: string) => values[name] ?? whole).trimEnd();
      lines = [];
      tell({ kind: "step", step: Number(number), steps: Number(all), text: step });
      return;
    }
    // Podman may say it in words alone.
    const [, built] = /^Successfully built ([0-9a-f]{12,64})$/.exec(text) ?? [];
    if (built !== undefined) imageId ??= built;
    // Ids of layers and of the containers in between mean nothing to anybody.
    if (/^ *-{2,3}>|^Removing intermediate container|^Successfully (?:built|tagged) /.test(text)) return;
    lines = [...lines.slice(1 - MOST_LINES), text];
    tell({ kind: "output", text });
  };

  return {
    take(line) {
      const { stream, status, id, progress, aux, error } = fieldsOf(line);
      if (typeof stream === "string") for (const text of shownLines(stream)) takeText(text);
      if (typeof status === "string") {
        const words = [id, status, progress].filter((word) => typeof word === "string" && word !== "");
        for (const text of shownLines(words.join(" "))) tell({ kind: "download", text });
      }
      const { ID: built } = fieldsOf(aux);
      if (typeof built === "string") imageId = built;
      if (typeof error === "string") reason = shownLines(error).join(" ");
    },
    imageId: () => imageId,
    failure: () => (reason === null ? null : { reason, step, lines }),
  };
}

/** A carriage return begins a line anew, as progress bars do: its end is what a person would see. */
function shownLines(text: string): readonly string[] {
  return text
    .split("\n")
    .map((line) =>
      stripTerminal(line.replace(/\r+$/, "").split("\r").at(-1) ?? "")
        .trimEnd()
        .slice(0, MOST_LINE_CHARACTERS),
    )
    .filter((line) => line !== "");
}

function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null ? (value as Readonly<Record<string, unknown>>) : {};
}
