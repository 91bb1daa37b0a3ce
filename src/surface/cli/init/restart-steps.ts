/**
 * What `reeve init codex` makes in a repository: the card `.codex/HARNESS_RESTART.md`
 * and the line in `.codex/CODEX.md`. It touches no other file. A card that somebody
 * edited and a line in somebody's own words stay as they are.
 */
import { chmodSync, lstatSync, mkdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { removeEmptyDirectory } from "./empty-directory.ts";
import { replaceFile } from "./replace-file.ts";
import { isReturnReported, writablePath } from "./repository.ts";
import { isThisCard, isUneditedCard, RESTART_CARD, TRIGGER_LINE } from "./restart-card-text.ts";
import type { Step } from "./step.ts";
import { triggerIn, withoutTrigger, withTrigger } from "./trigger-line.ts";

export function restartSteps(top: string, isUndo: boolean): readonly Step[] {
  return [cardStep(top, isUndo), triggerStep(top, isUndo)];
}

function cardStep(top: string, isUndo: boolean): Step {
  const path = join(top, ".codex", "HARNESS_RESTART.md");
  const isLink = lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true;
  const before = isLink ? null : readIfThere(path)?.toString("utf8");
  const state = stateOfCard(isLink, before ?? null, isUndo);
  const due = state === (isUndo ? "ours" : "absent");
  if (due) writablePath(top, path);
  return {
    state,
    doing: `write ${path} (${Buffer.byteLength(RESTART_CARD)} bytes, read only after a restart)`,
    undoing: `delete ${path}`,
    theirs: isLink
      ? `${path} is a link, so it stays as it is.`
      : `${path} was edited, so it stays as it is. Delete it to get this version's.`,
    isNeeded: false,
    async make() {
      put(path, Buffer.from(RESTART_CARD), top);
    },
    async takeBack() {
      rmSync(path);
      removeEmptyDirectory(dirname(path));
    },
  };
}

/** An older card that nobody edited is replaced: it counts as absent. */
function stateOfCard(isLink: boolean, before: string | null, isUndo: boolean): Step["state"] {
  if (isLink) return "theirs";
  if (before === null) return "absent";
  if (isThisCard(before)) return "ours";
  if (!isUneditedCard(before)) return "theirs";
  return isUndo ? "ours" : "absent";
}

function triggerStep(top: string, isUndo: boolean): Step {
  const path = join(top, ".codex", "CODEX.md");
  const before = readIfThere(path);
  const state = before === null ? "absent" : triggerIn(before);
  const due = state === (isUndo ? "ours" : "absent");
  const isLink = lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true;
  const real = due && (!isUndo || before !== null) ? writablePath(top, path) : path;
  return {
    state,
    doing: `add one line to ${path} (${Buffer.byteLength(TRIGGER_LINE)} bytes): ${TRIGGER_LINE}`,
    undoing: `remove that one line from ${path}`,
    theirs: `${path} has a line about HARNESS_RESTART.md in other words, which stays as it is.`,
    isNeeded: false,
    async make() {
      put(real, withTrigger(before, { isReturnReported: before !== null && isReturnReported(real) }), top);
    },
    async takeBack() {
      const left = withoutTrigger(readFileSync(real));
      // What a link leads to was there before the line.
      if (left !== null || isLink) put(real, left ?? Buffer.alloc(0), top);
      else rmSync(real);
      removeEmptyDirectory(dirname(path));
    },
  };
}

function readIfThere(path: string): Buffer | null {
  return statSync(path, { throwIfNoEntry: false })?.isFile() === true ? readFileSync(path) : null;
}

/** Its permissions stay; a new one is as open as the repository is, because Reeve's own umask is for Reeve's own files. */
function put(path: string, content: Buffer, top: string): void {
  const open = statSync(top).mode;
  if (mkdirSync(dirname(path), { recursive: true }) !== undefined) chmodSync(dirname(path), open & 0o777);
  replaceFile(path, content, statSync(path, { throwIfNoEntry: false })?.mode ?? open & 0o666);
}

/** Of CODEX.md, as it is or as it will be. */
export function alwaysLoadedBytes(top: string, isLineDue: boolean): number {
  const size = readIfThere(join(top, ".codex", "CODEX.md"))?.length ?? 0;
  return size + (isLineDue ? Buffer.byteLength(TRIGGER_LINE) + 1 : 0);
}
