/**
 * Transcripts of agents that remove them by themselves. While the first process
 * lives there is a link; once it is gone a copy, which is made again at each
 * end. A copy is never given up for a link: what that leads to may be removed
 * next. Those of earlier conversations are kept as `<name>.1`, `.2`, …
 *
 * The agent may remove its file before anybody sees that it ended. So the file
 * has a second name in the session's directory for as long as the process
 * lives, `<name>.held`, where the disk allows it.
 */
import { lstatSync, readFileSync } from "node:fs";
import { rename, rm } from "node:fs/promises";
import { writeFileAtomic } from "../../platform/atomic-file.ts";
import type { SessionFiles } from "../../runtime/session-files.ts";
import { cleanedLine } from "./session-line.ts";

/** Of a larger one the link is all there is. */
const LIMITS = { mostBytes: 67_108_864 } as const;

export async function linkUnlessCopied(files: SessionFiles, path: string, target: string): Promise<void> {
  await files.hold(heldName(path), target);
  if (!isCopy(path)) await files.link(path, target, "replace");
}

/** False where there is something to copy, and nobody knows what must not be in the copy (`redact` is null). */
export async function keepCopy(
  files: SessionFiles,
  {
    from,
    to,
    redact,
  }: { readonly from: string; readonly to: string; readonly redact: ((text: string) => string) | null },
): Promise<boolean> {
  const text = (await files.read(from, LIMITS)) ?? (await files.read(heldName(to), LIMITS));
  if (text === null) return true;
  if (redact === null) return isCopy(to);
  const lines = text.split("\n").map((line) => cleanedLine(line, redact));
  if (isCopy(to) && readFileSync(to, "utf8").split("\n", 1)[0] !== lines[0]) await rename(to, earlierName(to));
  await writeFileAtomic(`${to}.copy`, lines.join("\n"));
  // Over the link, in one step.
  await rename(`${to}.copy`, to);
  await rm(heldName(to), { force: true });
  return true;
}

/** The first that is free. */
function earlierName(path: string, number = 1): string {
  return isCopy(`${path}.${number}`) ? earlierName(path, number + 1) : `${path}.${number}`;
}

function heldName(path: string): string {
  return `${path}.held`;
}

function isCopy(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isFile() === true;
}
