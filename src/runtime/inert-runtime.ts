/**
 * Stands in for a runtime that this daemon does not know. It cannot be asked,
 * so its sessions are unreachable. Reeve concludes nothing about them and
 * starts or signals nothing; a caller that tries is told why.
 */
import { ReeveError } from "../platform/reeve-error.ts";
import type { ErrorKind } from "../platform/reeve-error.ts";
import type { Runtime } from "./contract.ts";

export function inertRuntime(kind: string, impediment: string): Runtime {
  const refusal = (errorKind: ErrorKind): ReeveError =>
    new ReeveError({ code: "unknown-runtime", kind: errorKind, message: impediment });
  // It may be known again to the next daemon, so this is tried again.
  const cannot = async (): Promise<never> => {
    throw refusal("unavailable");
  };
  return {
    kind,
    capabilities: { suspend: false, stream: false, attach: false, containers: false },
    files: {
      read: cannot,
      readNewLines: cannot,
      blankUpTo: cannot,
      readTail: cannot,
      stat: cannot,
      list: cannot,
      watch: cannot,
      write: cannot,
      makeDirectory: cannot,
      remove: cannot,
      removeTree: cannot,
      removeLeftover: cannot,
      link: cannot,
      unlink: cannot,
      hold: cannot,
      realPath: cannot,
      findProgram: cannot,
      ask: cannot,
      run: cannot,
      processesIn: cannot,
    },
    requireReady: async () => {
      throw refusal("conflict");
    },
    create: async () => {
      throw refusal("conflict");
    },
    retainsEnvironment: cannot,
    describe: () => ({ text: `a session of runtime ${kind}`, id: null, pid: null }),
    environmentOf: async () => null,
    observe: async () => ({ status: "unreachable", askedAt: Date.now(), evidence: impediment }),
    list: async () => ({ reachable: false, askedAt: Date.now(), evidence: impediment }),
    vitals: async () => ({ reachable: false, askedAt: Date.now(), evidence: impediment }),
    send: cannot,
    capture: cannot,
    relabel: cannot,
    lastTypedAt: cannot,
    owns: async () => false,
    lives: cannot,
    openFiles: async () => [],
    stream: () => () => undefined,
    follow: () => ({ repaint: () => undefined, stop: () => undefined }),
    openTerminal: cannot,
    suspend: cannot,
    release: cannot,
    stop: cannot,
    destroy: cannot,
    findStrays: async () => [],
    endProof: async () => ({ isWhole: false, text: impediment }),
    onChange: () => () => undefined,
    attachCommand: cannot,
    // It keeps nothing running that this daemon could know of.
    retire: async () => undefined,
    close: async () => undefined,
  };
}
