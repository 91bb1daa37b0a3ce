/**
 * The report of a session: one HTML file that needs no server and no network.
 * Its policy forbids everything but its own style and script, each allowed by
 * its hash. What agents wrote is data in it, in a block that no browser runs,
 * with `<` written as an escape so that nothing in it can end the block.
 */
import { createHash } from "node:crypto";
import { QUIET_KINDS, STORY_KINDS, type StoryEntry } from "../../session/story/entry.ts";
import { PAGE_SCRIPT } from "./page-script.ts";
import { PAGE_STYLE } from "./page-style.ts";

/** A moment of the terminal: seconds since the beginning, and what it printed, as plain text. */
export type Frame = readonly [number, string];

export interface Report {
  readonly title: string;
  /** Shown at the top, in this order. */
  readonly facts: readonly (readonly [string, string])[];
  readonly entries: readonly StoryEntry[];
  readonly frames: readonly Frame[];
  /** What is missing, one sentence each. */
  readonly gaps: readonly string[];
}

/** In pieces, which together are the file. */
export function* reportPage({ title, facts, entries, frames, gaps }: Report): Generator<string, void, void> {
  const policy = `default-src 'none'; style-src '${hashOf(PAGE_STYLE)}'; script-src '${hashOf(PAGE_SCRIPT)}'; base-uri 'none'; form-action 'none'`;
  yield `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>${escaped(title)}</title>
<style>${PAGE_STYLE}</style>
</head>
<body>
<header>
<h1>${escaped(title)}</h1>
<dl>${facts.map(([name, value]) => `<dt>${escaped(name)}</dt><dd>${escaped(value)}</dd>`).join("\n")}</dl>
${gaps.map((gap) => `<p class="hint">${escaped(gap)}</p>`).join("\n")}
</header>
<main>
<h2 id="story-title">Timeline</h2>
<noscript><p>The timeline needs JavaScript. The same is in story.jsonl, one entry a line.</p></noscript>
<form role="search" aria-label="Filter the timeline">
<fieldset id="kinds"><legend>Show</legend>
${STORY_KINDS.map((kind) => `<label><input type="checkbox" value="${kind}"${QUIET_KINDS.has(kind) ? "" : " checked"}> <span>${kind}</span></label>`).join("\n")}
</fieldset>
<label>Search <input type="search" id="search"></label>
<label>Turn <select id="turn"><option value="">all</option></select></label>
<label><input type="checkbox" id="errors"> only what failed</label>
</form>
<p id="status" role="status"></p>
<ol id="timeline" aria-labelledby="story-title"></ol>
<button type="button" id="more" hidden>Show more</button>
</main>
<section id="terminal" aria-labelledby="terminal-title" hidden>
<h2 id="terminal-title">Terminal</h2>
<p class="hint">As plain text: colours and the movement of the cursor are left out, so full-screen programs look broken here. To see it as it was: asciinema play files/terminal.cast</p>
<div class="player"><button type="button" id="play">Play</button>
<input type="range" id="frame" min="0" value="0" aria-label="Moment of the recording"> <span id="moment"></span>
<label>Speed <select id="speed"><option value="1">1</option><option value="4">4</option><option value="16">16</option></select></label></div>
<pre id="screen" tabindex="0" aria-label="Terminal"></pre>
</section>
<script type="application/json" id="story">[`;
  for (const [index, entry] of entries.entries()) yield `${index === 0 ? "" : ",\n"}${embedded(entry)}`;
  yield `]</script>\n<script type="application/json" id="frames">[`;
  for (const [index, frame] of frames.entries()) yield `${index === 0 ? "" : ","}${embedded(frame)}`;
  yield `]</script>\n<script>${PAGE_SCRIPT}</script>\n</body>\n</html>\n`;
}

function hashOf(text: string): string {
  return `sha256-${createHash("sha256").update(text).digest("base64")}`;
}

/** JSON in which nothing ends a script, begins a comment or breaks a line for JavaScript. */
function embedded(value: unknown): string {
  return JSON.stringify(value).replaceAll(
    /[<>&\u2028\u2029]/g,
    (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

const ENTITIES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

function escaped(text: string): string {
  return text.replaceAll(/[&<>"']/g, (sign) => ENTITIES[sign] ?? sign);
}
