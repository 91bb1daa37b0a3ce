/** The picture in the README: what is committed is safe to show anywhere, and colours of a real tmux become the right spans. */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { drawnRows } from "../../script/recording/drawn-row.ts";
import { renderFilm } from "../../script/recording/film.ts";
import { PLAIN } from "../../script/recording/pen.ts";
import { PROJECT } from "../../script/recording/stage.ts";
import { drawRow } from "../../script/recording/svg-row.ts";
import type { Shot } from "../../script/recording/terminal.ts";
import { openTerminal } from "../../script/recording/terminal.ts";

interface Element {
  readonly name: string;
  readonly attributes: Readonly<Record<string, string>>;
}

/** The elements of a document in the part of XML that a film needs; throws where it is not well-formed. */
function elementsOf(xml: string): readonly Element[] {
  const elements: Element[] = [];
  const open: string[] = [];
  const token = /<(?<end>\/?)(?<name>\w+)(?<attributes>(?: [\w:-]+="[^"<&]*")*)(?<empty>\/?)>|&(?:amp|lt|gt);|[^<>&]+/y;
  while (token.lastIndex < xml.length) {
    const at = token.lastIndex;
    const { name, end, empty, attributes = "" } = token.exec(xml)?.groups ?? {};
    if (token.lastIndex === 0) throw new Error(`not well-formed at ${at}: ${xml.slice(at, at + 80)}`);
    if (name === undefined) continue;
    if (end === "/") {
      if (open.pop() !== name) throw new Error(`</${name}> at ${at} ends nothing`);
      continue;
    }
    if (open.length === 0 && elements.length > 0) throw new Error(`a second root at ${at}`);
    const pairs = [...attributes.matchAll(/ ([\w:-]+)="([^"]*)"/g)].map(
      (pair) => [pair[1] ?? "", pair[2] ?? ""] as const,
    );
    if (new Set(pairs.map(([key]) => key)).size !== pairs.length) throw new Error(`an attribute twice at ${at}`);
    elements.push({ name, attributes: Object.fromEntries(pairs) });
    if (empty !== "/") open.push(name);
  }
  if (open.length > 0) throw new Error(`not closed: ${open.join(", ")}`);
  return elements;
}

describe("the committed recording", () => {
  const svg = readFileSync(join(import.meta.dirname, "..", "..", "docs", "recording.svg"), "utf8");
  const elements = elementsOf(svg);

  test("is well-formed and only draws", () => {
    expect(elements[0]).toMatchObject({ name: "svg", attributes: { xmlns: "http://www.w3.org/2000/svg" } });
    const names = new Set(elements.map(({ name }) => name));
    expect([...names].toSorted()).toEqual(["desc", "g", "path", "rect", "style", "svg", "text", "title", "tspan"]);
    expect(svg.length).toBeLessThan(300 * 1024);
  });

  test("holds no script, refers to nothing outside, and shows no path but the project's", () => {
    const keys = elements.flatMap(({ attributes }) => Object.keys(attributes));
    expect(keys.filter((key) => /^on|href|src/i.test(key))).toEqual([]);
    expect(svg.replace(' xmlns="http://www.w3.org/2000/svg"', "")).not.toMatch(/url\(|@import|@font-face|\w:\/\//i);
    const shown = svg.replaceAll(/<[^>]*>/g, "\n");
    expect(new Set(shown.match(/(?<![\w.~])\/[\w.][\w./-]*/g))).toEqual(new Set([PROJECT]));
  });

  test("takes 20 to 40 seconds, again and again, and stands still for who wants that", () => {
    const times = new Set([...svg.matchAll(/ (\d+)ms step-end infinite/g)].map((found) => Number(found[1])));
    expect(times.size).toBe(1);
    const [total = 0] = times;
    expect(total).toBeGreaterThan(20_000);
    expect(total).toBeLessThan(40_000);
    expect(svg).toContain("@media (prefers-reduced-motion:reduce){g{animation:none!important}}");
  });

  test("tells in words what the last picture shows", () => {
    const told = /<desc id="desc">([^]*)<\/desc>/.exec(svg)?.[1] ?? "";
    expect(told).toMatch(/kill -9 .*\n.*reeve list\nNAME /);
    for (const name of ["checkout", "prices", "notes", "dates", "server"])
      expect(told).toMatch(new RegExp(`^${name} .* running `, "m"));
  });
});

describe("a screen of a real tmux", () => {
  let directory = "";
  let shot: Shot = { lines: [], cursor: null };
  beforeAll(async () => {
    directory = mkdtempSync(join(tmpdir(), "reeve-recording-"));
    const printed = [
      String.raw`\033[31mred\033[39m plain \033[1;93mbright\033[0m`,
      String.raw`\033[38;5;208morange\033[48;5;236m on grey`,
      String.raw`\033[49;38;2;1;128;255mexact\033[0m  \033[7mturned\033[0m`,
      String.raw`\033[2mfaint\033[0m \033[3;4;9mall\033[0m 1 < 2 && 3`,
      String.raw`日本 \033[32mwide\033[0m`,
      String.raw`\033[35m▛█\033[39m logo ░`,
      "end",
    ];
    const terminal = await openTerminal({
      columns: 40,
      rows: 8,
      directory,
      cwd: directory,
      environment: { PATH: process.env["PATH"] ?? "", LANG: "C.UTF-8", TERM: "xterm-256color" },
      shell: `sh -c 'printf "${printed.join(String.raw`\n`)}"; exec sleep 600'`,
    });
    try {
      await terminal.ends("end");
      shot = await terminal.shoot();
    } finally {
      await terminal.close();
    }
  });
  afterAll(() => rmSync(directory, { recursive: true, force: true }));

  test("has the colours of the 16, the 256 and RGB, and carries them into the next line", () => {
    expect(drawnRows(shot.lines).slice(0, 3)).toEqual([
      [
        { column: 0, columns: 3, text: "red", pen: { ...PLAIN, text: "#ff7b72" } },
        { column: 3, columns: 7, text: " plain ", pen: PLAIN },
        { column: 10, columns: 6, text: "bright", pen: { ...PLAIN, text: "#e3b341", isBold: true } },
      ],
      [
        { column: 0, columns: 6, text: "orange", pen: { ...PLAIN, text: "#ff8700" } },
        { column: 6, columns: 8, text: " on grey", pen: { ...PLAIN, text: "#ff8700", ground: "#303030" } },
      ],
      [
        { column: 0, columns: 5, text: "exact", pen: { ...PLAIN, text: "#0180ff" } },
        { column: 7, columns: 6, text: "turned", pen: { ...PLAIN, isReversed: true } },
      ],
    ]);
  });

  test("becomes spans that keep their columns", () => {
    const rows = drawnRows(shot.lines).map((pieces, row) => drawRow(pieces, row));
    expect(rows.slice(1, 6)).toEqual([
      '<rect x="66.4" y="34" width="67.2" height="18" fill="#303030"/><text y="47.5"><tspan x="16" textLength="50.4" fill="#ff8700">orange</tspan><tspan x="74.8" textLength="58.8" fill="#ff8700">on grey</tspan></text>',
      '<rect x="74.8" y="52" width="50.4" height="18" fill="#e6edf3"/><text y="65.5"><tspan x="16" textLength="42" fill="#0180ff">exact</tspan><tspan x="74.8" textLength="50.4" fill="#0d1117">turned</tspan></text>',
      '<text y="83.5"><tspan x="16" textLength="42" fill-opacity="0.6">faint</tspan><tspan x="66.4" textLength="25.2" font-style="italic" text-decoration="underline line-through">all</tspan><tspan x="100" textLength="84">1 &lt; 2 &amp;&amp; 3</tspan></text>',
      '<text y="101.5"><tspan x="16" textLength="33.6">日本</tspan><tspan x="58" textLength="33.6" fill="#3fb950">wide</tspan></text>',
      '<path d="M16 106h4.2v9h-4.2zM20.2 106h4.2v9h-4.2zM16 115h4.2v9h-4.2zM24.4 106h4.2v9h-4.2zM28.6 106h4.2v9h-4.2zM24.4 115h4.2v9h-4.2zM28.6 115h4.2v9h-4.2z" fill="#bc8cff"/><text y="119.5"><tspan x="41.2" textLength="50.4">logo ░</tspan></text>',
    ]);
    expect(shot.cursor).toEqual({ column: 3, row: 6 });
  });

  test("is drawn once for as long as it stays the same", () => {
    const shots = [
      { lines: ["stays", "one"], cursor: null, ms: 1000, caption: "A & B" },
      { lines: ["stays", "two"], cursor: null, ms: 3000, caption: "A & B" },
    ];
    const svg = renderFilm({ title: "T", columns: 10, rows: 2, frames: shots });
    expect(elementsOf(svg).filter(({ name }) => name === "g")).toHaveLength(3);
    expect(svg.match(/>stays<\/tspan>/g)).toHaveLength(1);
    expect(svg).toContain(
      ".f0-1{visibility:hidden;animation:f0-1 4000ms step-end infinite}@keyframes f0-1{0%{visibility:visible}25%{visibility:hidden}}",
    );
    expect(svg).toContain(
      ".f1-2{visibility:visible;animation:f1-2 4000ms step-end infinite}@keyframes f1-2{0%{visibility:hidden}25%{visibility:visible}}",
    );
    expect(svg).toContain('<desc id="desc">The last picture:\nstays\ntwo\nA &amp; B</desc>');
  });
});
