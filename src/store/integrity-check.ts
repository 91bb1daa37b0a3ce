/**
 * Reads a whole database for damage without holding up the daemon: SQLite's
 * check blocks its thread for long if the file is big, so it runs in a thread
 * of its own. The thread's program is a string, because a bundle has no second
 * file to start it from.
 */
import type { Worker } from "node:worker_threads";

const PROGRAM = `
  const { parentPort, workerData } = require("node:worker_threads");
  const { DatabaseSync } = require("node:sqlite");
  const db = new DatabaseSync(workerData, { readOnly: true });
  try {
    parentPort.postMessage(db.prepare("PRAGMA quick_check(1)").get().quick_check);
  } catch (error) {
    parentPort.postMessage(error.errcode === undefined || [11, 26].includes(error.errcode & 255) ? error.message : "ok");
  } finally {
    db.close();
  }
`;

/** Resolves with the first damage found, or undefined. */
export async function findDamage(databasePath: string, signal: AbortSignal): Promise<string | undefined> {
  // Loaded here: a start does not wait for it.
  const threads = await import("node:worker_threads");
  if (signal.aborted) return undefined;
  return new Promise((resolve) => {
    let worker: Worker;
    try {
      worker = new threads.Worker(PROGRAM, { eval: true, workerData: databasePath });
    } catch {
      // No thread to be had right now.
      return resolve(undefined);
    }
    signal.addEventListener("abort", () => void worker.terminate(), { once: true });
    let damage: string | undefined;
    worker.on("message", (answer: string) => {
      damage = answer === "ok" ? undefined : answer;
    });
    // It could not be asked, which says nothing about the file.
    worker.on("error", () => {});
    worker.on("exit", () => resolve(damage));
  });
}
