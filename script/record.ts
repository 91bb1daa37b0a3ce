/**
 * Records docs/recording.svg, the picture in the README, from a real run: five
 * sessions of the real agents, of which one asks; the person approves on the
 * board; the daemon is killed; all five are still there. Only the model behind
 * the agents is scripted, and how long each picture is shown.
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { playStory } from "./recording/story.ts";
import { renderFilm } from "./recording/film.ts";

const FILE = join(import.meta.dirname, "..", "docs", "recording.svg");

const svg = renderFilm(await playStory());
writeFileSync(FILE, svg);
console.log(`Written: ${FILE} (${Math.ceil(svg.length / 1024)} KB)`);
