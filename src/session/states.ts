/** The states of a session as words, for code that does not need the record. */
export const STATES = ["planned", "starting", "running", "paused", "error", "stopped"] as const;
