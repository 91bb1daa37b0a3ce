/** Looks for the shortest case that still shows the same kind of fault: fewer lanes, episodes, faults. */
import type { Case, Episode, Lane } from "./case.ts";
import { formatCase } from "./case.ts";

/** Whether this case still shows it. */
export type Trial = (candidate: Case) => Promise<boolean>;

/** `trials`: how often a case may be run at most. */
export async function shrink(failing: Case, shows: Trial, trials: number): Promise<Case> {
  let best = failing;
  let left = trials;
  const tried = new Set<string>([formatCase(failing)]);
  for (let isSmaller = true; isSmaller && left > 0;) {
    isSmaller = false;
    for (const candidate of smallerThan(best)) {
      const text = formatCase(candidate);
      if (left <= 0 || tried.has(text)) continue;
      tried.add(text);
      left -= 1;
      if (!(await shows(candidate))) continue;
      best = candidate;
      isSmaller = true;
      break;
    }
  }
  return best;
}

/** One thing less each; the biggest pieces first. Every lane keeps its start and its end. */
export function smallerThan(whole: Case): readonly Case[] {
  const withoutLane =
    whole.lanes.length < 2 ? [] : whole.lanes.map((_, at) => ({ lanes: whole.lanes.toSpliced(at, 1) }));
  const inLanes = whole.lanes.flatMap((lane, at) =>
    [...withoutEpisode(lane), ...withoutFault(lane)].map((smaller) => ({ lanes: whole.lanes.with(at, smaller) })),
  );
  return [...withoutLane, ...inLanes];
}

function withoutEpisode({ mode, episodes }: Lane): readonly Lane[] {
  return episodes.flatMap((_, at) =>
    at === 0 || at === episodes.length - 1 ? [] : [{ mode, episodes: episodes.toSpliced(at, 1) }],
  );
}

function withoutFault({ mode, episodes }: Lane): readonly Lane[] {
  return episodes.flatMap((episode, at) =>
    episode.faults.map((_, fault): Lane => {
      const less: Episode = { ...episode, faults: episode.faults.toSpliced(fault, 1) };
      return { mode, episodes: episodes.with(at, less) };
    }),
  );
}
