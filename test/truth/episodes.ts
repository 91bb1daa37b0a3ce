/** What can happen in a lane, by name; each brings the lane back to rest, or says that it is stuck. */
import type { Episode, Mode } from "./case.ts";
import { lifeEpisodes } from "./episodes-life.ts";
import { paneEpisodes } from "./episodes-pane.ts";
import { questionEpisodes } from "./episodes-question.ts";
import { turnEpisodes } from "./episodes-turn.ts";
import type { Lane } from "./lane.ts";
import type { Random } from "./random.ts";

export interface EpisodeKind {
  readonly modes: readonly Mode[];
  /** How often it is drawn. */
  readonly weight: number;
  /** The options of one that is drawn. */
  draw(random: Random, mode: Mode): Readonly<Record<string, string>>;
  run(lane: Lane, options: Readonly<Record<string, string>>): Promise<void>;
  /** Faults that make no sense here: it does such a thing itself. */
  readonly without?: readonly string[];
}

export const EPISODES: Readonly<Record<string, EpisodeKind>> = {
  ...turnEpisodes,
  ...questionEpisodes,
  ...paneEpisodes,
  ...lifeEpisodes,
};

export async function runEpisode(lane: Lane, { name, options }: Episode): Promise<void> {
  const kind = EPISODES[name];
  if (kind === undefined)
    throw new Error(`There is no episode ${name}; there are ${Object.keys(EPISODES).join(", ")}.`);
  await kind.run(lane, options);
}
