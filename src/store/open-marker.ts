/**
 * How the database was left. A small file stands beside it while it is open:
 *
 *   absent     it was closed properly
 *   "open"     whoever had it open was killed (or has it open still)
 *   "suspect"  damage was seen while it was in use: check it before trusting it
 *
 * The words are followed by a newline; anything else counts as "open". It is
 * written without fsync: a kill keeps it, and after a power cut without it the
 * database is merely taken as it is.
 */
import { rmSync, writeFileSync } from "node:fs";
import { clearTheWay, readOwnFile } from "../platform/own-file.ts";

const LARGEST_BYTES = 1_024;

export type Left = "closed" | "open" | "suspect";

export class OpenMarker {
  readonly #path: string;

  constructor(databasePath: string) {
    this.#path = `${databasePath}.open`;
  }

  read(): Left {
    try {
      const text = readOwnFile(this.#path, LARGEST_BYTES);
      if (text === null) return "closed";
      return text === "suspect\n" ? "suspect" : "open";
    } catch {
      return "open";
    }
  }

  /** A full disk costs the mark, not the start. */
  tryWrite(left: "open" | "suspect"): void {
    if (this.read() === left) return;
    try {
      clearTheWay(this.#path);
      rmSync(this.#path, { force: true });
      writeFileSync(this.#path, `${left}\n`, { mode: 0o600, flag: "wx" });
    } catch {
      // Damage that stays unmarked shows again when it is next read.
    }
  }

  remove(): void {
    clearTheWay(this.#path);
    rmSync(this.#path, { force: true });
  }
}
