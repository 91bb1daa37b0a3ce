/**
 * Images for sessions in containers: what Reeve builds, and what it built. A
 * runtime with containers may bring a workshop; nothing else of it is known here.
 */

/** In the order in which people see them. */
export const IMAGE_AGENTS = ["codex", "claude", "gemini"] as const;
export type ImageAgent = (typeof IMAGE_AGENTS)[number];

export interface ImageRequest {
  /** Its version, or "latest"; those that are not named are not installed. */
  readonly agents: Readonly<Partial<Record<ImageAgent, string>>>;
  /** Debian packages beside those that every image has. */
  readonly packages: readonly string[];
  /** As PEM, any number in each. */
  readonly certificates: readonly string[];
  /** Null: the usual one. */
  readonly base: string | null;
  readonly tag: string;
  /** Nothing that was built before is used. */
  readonly isFresh: boolean;
  /** Null: the engine's own. */
  readonly network: string | null;
}

export interface BuiltImage {
  readonly id: string;
  readonly tags: readonly string[];
  /** Those that are in it, with the versions that were installed. */
  readonly agents: Readonly<Partial<Record<ImageAgent, string>>>;
  /** Of Reeve; null where nobody wrote it down. */
  readonly reeveVersion: string | null;
  readonly labels: Readonly<Record<string, string>>;
  readonly bytes: number;
  /** Wall time. */
  readonly builtAt: number;
}

/** What is told while it is built. */
export type BuildProgress =
  | { readonly kind: "step"; readonly step: number; readonly steps: number; readonly text: string }
  /** A line that a step printed. */
  | { readonly kind: "output"; readonly text: string }
  /** A state of a download, which the next one of the same name replaces. */
  | { readonly kind: "download"; readonly text: string };

export interface ImageWorkshop {
  /** Throws what was wrong with the request, or which step failed, with the end of what it printed. */
  build(request: ImageRequest, tell: (progress: BuildProgress) => void, signal: AbortSignal): Promise<BuiltImage>;
  /** Those that were built so, newest first. */
  list(): Promise<readonly BuiltImage[]>;
}
