/** Versions of tmux, as it prints them. */
export interface TmuxVersion {
  readonly major: number;
  readonly minor: number;
}

/** "tmux 3.3a", "tmux next-3.6", "tmux openbsd-7.5" (which is current). */
export function parseVersion(text: string): TmuxVersion | null {
  if (text.includes("openbsd") || text.trim() === "tmux master") return { major: 99, minor: 0 };
  const match = /(\d+)\.(\d+)/.exec(text);
  return match === null ? null : { major: Number(match[1]), minor: Number(match[2]) };
}

export function isAtLeast(version: TmuxVersion, wanted: TmuxVersion): boolean {
  return version.major > wanted.major || (version.major === wanted.major && version.minor >= wanted.minor);
}
