/**
 * Which code has no way to the machine but through a session's runtime: the
 * adapters of agents, and what watches sessions. Checked twice: by
 * check-imports.ts, and by vitest.config.ts, which takes these modules away
 * from that code while the tests run.
 */

/** Below src/; and what the tests see that it works by. */
const SEALED = /^(?:agent|supervisor\/attention)\/|^\.\.\/test\/support\/sealed-probe\.ts$/;

/** Tests and what only they use; and the programs that run inside a session themselves, bundled apart. */
const OPEN = /(?:\.test|-fixture|-under-test)\.ts$/;
const PROGRAM = /^agent\/(?:codex\/bootstrap|practice\/(?:program|journal|transcript-writer|spool-writer))\.ts$/;

const MACHINE =
  /^(?:node:(?:fs|fs\/promises|child_process)|.*\/platform\/(?:atomic-file|cgroup|descriptors|disk-room|executable|file-tail|line-cursor|own-file|plain-file|private-dir|process-lock|process-table|spare-file)\.ts)$/;

/** Of a file below src/. */
export function isSealed(file: string): boolean {
  return SEALED.test(file) && !OPEN.test(file) && !PROGRAM.test(file);
}

/** What runs in a process of its own; sealed code must not import it either. */
export function isProgram(file: string): boolean {
  return PROGRAM.test(file);
}

/** What a sealed file imports, other than as a type, although it must not. */
export function forbiddenImports(text: string): readonly string[] {
  const imports = text.matchAll(IMPORT);
  return [...imports].flatMap(([, type, from, dynamic]) => {
    const target = from ?? dynamic ?? "";
    return type === undefined && MACHINE.test(target) ? [target] : [];
  });
}

const IMPORT =
  /^\s*(?:import|export)\s+(type\s+)?(?:[^;'"]*?from\s+)?["']([^"']+)["']|import\(\s*["']([^"']+)["']\s*\)/gm;

/** The same code with something that throws in the place of each such import. */
export function seal(text: string): string {
  const found = forbiddenImports(text);
  if (found.length === 0) return text;
  return `throw new Error(${JSON.stringify(`out of reach: ${found.join(", ")}`)});\nexport {};\n`;
}
