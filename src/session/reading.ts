/**
 * What one look at an agent said: a hook fired, a line was written, the
 * screen changed. The agent makes it, the transition weighs it.
 */
import type { ActivityStatus, Evidence } from "./session.ts";

export interface Reading {
  readonly source: Evidence["source"];
  readonly detail: string;
  readonly activity?: ActivityStatus;
  readonly asks?: string;
  readonly turn?: "started" | "completed" | "interrupted" | { readonly failed: string };
  readonly nativeId?: string;
  readonly transcript?: "observable" | "lost";
}
