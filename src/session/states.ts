/** The states of a session, for those who need the words and not the record. */
export const STATES = ["planned", "starting", "running", "paused", "error", "stopped"] as const;
