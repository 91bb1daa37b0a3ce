/**
 * When a limit is used up the TUI asks at the end of a turn whether to switch to a
 * cheaper model, and Enter says yes: a message that is typed would change the
 * model (0.166.0). Nobody sits there to be asked.
 */
export const NO_MODEL_NUDGE = ["-c", "notice.hide_rate_limit_model_nudge=true"] as const;
