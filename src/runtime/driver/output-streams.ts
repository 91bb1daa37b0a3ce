/**
 * Which pane belongs to which mark, and who listens to it. tmux sends a control
 * client the output of the session it is attached to, so the window of a pane
 * is linked into the anchor session while somebody listens to it, and only
 * then: a hundred unwatched terminals cost nothing. This file owns the tables;
 * window-links.ts does the linking.
 */
export interface OutputStreams {
  add(mark: string, listener: (bytes: Buffer) => void): () => void;
  isWanted(mark: string): boolean;
  isAnyWanted(): boolean;
  wanted(): readonly string[];
  /** From now on the pane and its output belong to this mark. */
  assign(paneId: string, windowId: string, mark: string): void;
  markOfWindow(windowId: string): string | undefined;
  paneOf(mark: string): string | undefined;
  markOfPane(paneId: string): string | undefined;
  deliver(paneId: string, bytes: Buffer): void;
  forget(paneId: string): void;
  /** Pane ids start anew with each server. */
  forgetAll(): void;
}

export function createOutputStreams(
  onWantedChanged: (mark: string) => void,
  log: (message: string, fields?: object) => void,
): OutputStreams {
  const listeners = new Map<string, Set<(bytes: Buffer) => void>>();
  const marks = new Map<string, string>();
  const panes = new Map<string, string>();
  const windows = new Map<string, string>();
  const windowOf = new Map<string, string>();

  const forget = (paneId: string): void => {
    const mark = marks.get(paneId);
    if (mark !== undefined && panes.get(mark) === paneId) panes.delete(mark);
    const windowId = mark === undefined ? undefined : windowOf.get(mark);
    if (windowId !== undefined && windows.get(windowId) === mark) windows.delete(windowId);
    marks.delete(paneId);
  };

  return {
    add(mark, listener) {
      const all = listeners.get(mark) ?? new Set();
      const own = (bytes: Buffer): void => listener(bytes); // the same function may listen twice
      all.add(own);
      listeners.set(mark, all);
      if (all.size === 1) onWantedChanged(mark);
      return () => {
        if (!all.delete(own) || all.size > 0) return;
        if (listeners.get(mark) === all) listeners.delete(mark);
        onWantedChanged(mark);
      };
    },
    isWanted: (mark) => listeners.has(mark),
    isAnyWanted: () => listeners.size > 0,
    wanted: () => [...listeners.keys()],
    assign(paneId, windowId, mark) {
      if (marks.get(paneId) === mark && windows.get(windowId) === mark) return;
      forget(paneId);
      windows.set(windowId, mark);
      windowOf.set(mark, windowId);
      marks.set(paneId, mark);
      panes.set(mark, paneId);
    },
    markOfWindow: (windowId) => windows.get(windowId),
    paneOf: (mark) => panes.get(mark),
    markOfPane: (paneId) => marks.get(paneId),
    deliver(paneId, bytes) {
      const mark = marks.get(paneId);
      if (mark === undefined) return;
      for (const listener of listeners.get(mark) ?? []) {
        try {
          listener(bytes);
        } catch (error) {
          // One session's reader must not cost the connection that all of them share.
          log("a listener to output failed", { mark, why: error });
        }
      }
    },
    forget,
    forgetAll() {
      marks.clear();
      panes.clear();
      windows.clear();
      windowOf.clear();
    },
  };
}
