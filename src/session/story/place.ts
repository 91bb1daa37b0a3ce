/**
 * When a part of the story happened, on one line of time. Within one boot of
 * the machine the monotonic clock tells, which nobody sets. What was written
 * down with the wall clock alone is placed by how far that clock was off when
 * something with both was written near it.
 *
 * A source never contradicts its own order: its times are made to grow.
 */
import type { StoryPart } from "./entry.ts";

/** Smaller differences between the clocks are drift, or how long a write took. */
const SAME_MS = 1_000;

/** A stretch in which the wall clock ran on without being set: `offset` leads from it to the line of time. */
interface Stretch {
  readonly from: number;
  to: number;
  readonly offset: number;
}

interface Boot {
  /** Leads from the monotonic clock to the line of time. */
  readonly base: number;
  /** Of the wall clock, against the monotonic one. */
  readonly walls: number[];
  last: number;
}

/** The time of each part, in the order given; `sources` are those that each have an order of their own. */
export function placesOf(sources: readonly (readonly StoryPart[])[]): readonly (readonly number[])[] {
  const boots: Boot[] = [];
  const stretches: Stretch[] = [];
  // Whoever wrote down most with both clocks says what boots there were.
  const byMono = sources.toSorted((one, other) => monoCount(other) - monoCount(one));
  for (const source of byMono) learnBoots(source, boots, stretches);
  // Without any, the log tells when the clock was set back: it never goes back itself.
  if (stretches.length === 0) learnSettings(sources[0] ?? [], stretches);
  return sources.map((source) => growing(source, boots, stretches));
}

function monoCount(source: readonly StoryPart[]): number {
  return source.filter(({ mono }) => mono !== null).length;
}

function wallOf(part: StoryPart): number {
  const at = Date.parse(part.at);
  return Number.isNaN(at) ? 0 : at;
}

function learnBoots(source: readonly StoryPart[], boots: Boot[], stretches: Stretch[]): void {
  let boot: Boot | null = null;
  let before = -1;
  for (const part of source) {
    if (part.mono === null) continue;
    const wall = wallOf(part);
    if (boot === null || part.mono < before) boot = bootOf(part.mono, wall, boots, boot);
    before = part.mono;
    const time = boot.base + part.mono;
    boot.last = Math.max(boot.last, time);
    const difference = wall - part.mono;
    if (!boot.walls.some((known) => Math.abs(known - difference) < SAME_MS)) boot.walls.push(difference);
    const stretch = stretches.at(-1);
    const offset = time - wall;
    if (stretch !== undefined && Math.abs(stretch.offset - offset) < SAME_MS && wall >= stretch.from)
      stretch.to = Math.max(stretch.to, wall);
    else stretches.push({ from: wall, to: wall, offset });
  }
}

function learnSettings(source: readonly StoryPart[], stretches: Stretch[]): void {
  let stretch: Stretch | null = null;
  for (const part of source) {
    const wall = wallOf(part);
    if (stretch === null || wall < stretch.to - SAME_MS) {
      const offset: number = stretch === null ? 0 : stretch.to + stretch.offset - wall;
      stretch = { from: wall, to: wall, offset };
      stretches.push(stretch);
    }
    stretch.to = Math.max(stretch.to, wall);
  }
}

/** One that another source told of, where the clocks say the same; else a new one, which begins after those before. */
function bootOf(mono: number, wall: number, boots: Boot[], before: Boot | null): Boot {
  const later = boots.slice(before === null ? 0 : boots.indexOf(before) + 1);
  const known = later.find(({ walls }) => walls.some((difference) => Math.abs(difference - (wall - mono)) < SAME_MS));
  if (known !== undefined) return known;
  const earliest = before === null ? wall : Math.max(wall, before.last);
  const made: Boot = { base: earliest - mono, walls: [], last: earliest };
  boots.push(made);
  return made;
}

function growing(
  source: readonly StoryPart[],
  boots: readonly Boot[],
  stretches: readonly Stretch[],
): readonly number[] {
  const places: number[] = [];
  let boot: Boot | null = null;
  let monoBefore = -1;
  for (const part of source) {
    const wall = wallOf(part);
    let place: number;
    if (part.mono === null) {
      place = wall + (offsetAt(wall, stretches) ?? 0);
    } else {
      if (boot === null || part.mono < monoBefore) boot = knownBoot(part.mono, wall, boots, boot);
      monoBefore = part.mono;
      place = (boot?.base ?? wall - part.mono) + part.mono;
    }
    places.push(Math.max(place, places.at(-1) ?? place));
  }
  return places;
}

function knownBoot(mono: number, wall: number, boots: readonly Boot[], before: Boot | null): Boot | null {
  const later = boots.slice(before === null ? 0 : boots.indexOf(before) + 1);
  return (
    later.find(({ walls }) => walls.some((difference) => Math.abs(difference - (wall - mono)) < SAME_MS)) ??
    later[0] ??
    null
  );
}

/** Of the stretch that holds it, the latest where several do (the clock was set back), else of the nearest. */
function offsetAt(wall: number, stretches: readonly Stretch[]): number | null {
  let nearest: { readonly distance: number; readonly offset: number } | null = null;
  for (const { from, to, offset } of stretches) {
    const distance = wall < from ? from - wall : wall > to ? wall - to : 0;
    if (nearest === null || distance <= nearest.distance) nearest = { distance, offset };
  }
  return nearest?.offset ?? null;
}
