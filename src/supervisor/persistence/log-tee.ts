import type { Log } from "../../platform/log.ts";

/** A log that others hear, too: those who are there by the time that something is logged. */
export function createLogTee(log: Log): { readonly log: Log; readonly also: (hear: Log) => void } {
  const others: Log[] = [];
  return {
    log(message, fields) {
      log(message, fields);
      for (const hear of others) hear(message, fields);
    },
    also: (hear) => void others.push(hear),
  };
}
