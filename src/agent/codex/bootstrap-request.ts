/**
 * What the launch plan tells the bootstrap: one JSON file in the session's
 * directory. Both are of one version of Reeve, so it is read as it was written.
 */
export interface BootstrapRequest {
  readonly socket: string;
  readonly cwd: string;
  readonly model: string | null;
  /** Directories of `--add-dir`. */
  readonly extraRoots: readonly string[];
  /** The thread to continue; null starts a new one. */
  readonly resume: string | null;
  readonly prompt: string | null;
  /** The prompt waits for the server that says there that it has told its tools; null: there is none to wait for. */
  readonly tools: { readonly readyPath: string; readonly withinMs: number } | null;
  readonly spoolDir: string;
  /** Where the bootstrap keeps which thread this session is, and how many turns it had before. */
  readonly recordPath: string;
}
