/** Said when a pause is asked for and again when it is a fact. */
export function pauseSentence(mode: "detach" | "suspend"): string {
  return mode === "detach"
    ? "Paused on request: input is held back, the process runs on."
    : "Paused on request: input is held back and the processes are stopped.";
}
