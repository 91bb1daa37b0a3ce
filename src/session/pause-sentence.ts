/** The sentence about a pause, used when it is asked for and again when the session is paused. */
export function pauseSentence(mode: "detach" | "suspend"): string {
  return mode === "detach"
    ? "Paused on request: input is held back, the process runs on."
    : "Paused on request: input is held back and the processes are stopped.";
}
