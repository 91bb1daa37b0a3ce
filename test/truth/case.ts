/**
 * A case: what is done to one Reeve, as data and as one line of text. The text
 * holds everything that was drawn, so it repeats a case without its seed:
 *
 *   claude: start prompt=say | approval answer=pane + kill-daemon@340 | end when=now // practice: start | end
 *
 * Lanes (one session each) are separated by `//` and run side by side in one
 * home; the episodes of a lane, separated by `|`, run one after the other. A
 * fault strikes so many milliseconds after its episode began.
 */
export const MODES = ["claude", "gemini", "codex", "codex-hooks", "practice", "command"] as const;
export type Mode = (typeof MODES)[number];

export const FAULTS = [
  /** kill -9 of the daemon. */
  "kill-daemon",
  /** The daemon kills itself at this named point: `failpoint:send.leased`. */
  "failpoint",
  /** SIGSTOP, and SIGCONT after so many milliseconds: `stop-daemon:2500`. */
  "stop-daemon",
  "stop-agent",
  "stop-tmux",
  /** The file of tmux's socket is removed. */
  "delete-socket",
] as const;
export type FaultName = (typeof FAULTS)[number];

export interface Fault {
  readonly name: FaultName;
  readonly argument: string | null;
  readonly atMs: number;
}

export interface Episode {
  readonly name: string;
  readonly options: Readonly<Record<string, string>>;
  readonly faults: readonly Fault[];
}

export interface Lane {
  readonly mode: Mode;
  readonly episodes: readonly Episode[];
}

export interface Case {
  readonly lanes: readonly Lane[];
}

export function formatCase({ lanes }: Case): string {
  return lanes.map(({ mode, episodes }) => `${mode}: ${episodes.map(formatEpisode).join(" | ")}`).join(" // ");
}

export function formatEpisode({ name, options, faults }: Episode): string {
  const words = [name, ...Object.entries(options).map(([key, value]) => `${key}=${value}`)];
  return [...words, ...faults.map((fault) => `+ ${formatFault(fault)}`)].join(" ");
}

function formatFault({ name, argument, atMs }: Fault): string {
  return `${name}${argument === null ? "" : `:${argument}`}@${atMs}`;
}

/** Throws an Error that says which part is not understood. */
export function parseCase(text: string): Case {
  const lanes = text.split("//").map((part) => parseLane(part.trim()));
  return { lanes };
}

function parseLane(text: string): Lane {
  const [, name = "", rest = ""] = /^([a-z-]+):(.*)$/s.exec(text) ?? [];
  const mode = MODES.find((candidate) => candidate === name);
  if (mode === undefined) throw new Error(`A lane begins with one of ${MODES.join(", ")} and a colon, not: ${text}`);
  return { mode, episodes: rest.split("|").map((part) => parseEpisode(part.trim())) };
}

function parseEpisode(text: string): Episode {
  const [head = "", ...faults] = text.split("+").map((part) => part.trim());
  const [name = "", ...words] = head.split(/\s+/);
  if (!/^[a-z0-9-]+$/.test(name)) throw new Error(`An episode begins with its name, not: ${text}`);
  const options = Object.fromEntries(
    words.map((word) => {
      const [, key = "", value = ""] = /^([a-z]+)=(\S+)$/.exec(word) ?? [];
      if (key === "") throw new Error(`An option is written name=value, not: ${word}`);
      return [key, value];
    }),
  );
  return { name, options, faults: faults.map(parseFault) };
}

function parseFault(text: string): Fault {
  const [, word = "", argument, at = ""] = /^([a-z-]+)(?::([\w.-]+))?@(\d+)$/.exec(text) ?? [];
  const name = FAULTS.find((candidate) => candidate === word);
  if (name === undefined) throw new Error(`A fault is written name@milliseconds or name:argument@…, not: ${text}`);
  return { name, argument: argument ?? null, atMs: Number(at) };
}
