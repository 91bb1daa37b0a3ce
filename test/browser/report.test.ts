/** The report of a session in a real browser, opened as a file. */
import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { reportPage } from "../../src/capture/report/report-page.ts";
import type { StoryEntry } from "../../src/session/story/entry.ts";
import { type ArchiveGround, makeGround } from "../../src/supervisor/story/archive-fixture.ts";
import { type BrowserPage, findBrowser, openBrowser } from "../support/browser.ts";
import { eventually } from "../support/eventually.ts";

const program = findBrowser();
const rows = `document.querySelectorAll("#timeline > li").length`;

describe.skipIf(program === null)("report.html", () => {
  let ground: ArchiveGround;
  let page: BrowserPage;
  let report: string;
  let entries: readonly StoryEntry[];

  beforeAll(async () => {
    ground = makeGround();
    entries = (await ground.story()).entries;
    const archive = join(ground.root, "one.tar.gz");
    await ground.archive(archive);
    execFileSync("tar", ["--extract", "--gzip", "--file", archive, "--directory", ground.root]);
    report = pathToFileURL(join(ground.root, ground.session.id, "report.html")).href;
    page = await openBrowser(program ?? "");
    await page.open(report);
  });

  afterAll(async () => {
    await page.close();
    ground.remove();
  });

  test("shows the timeline, asks nobody for anything, and nothing that an agent wrote runs", async () => {
    expect(await page.evaluate(rows)).toBe(entries.length);
    const texts = await page.evaluate<string>(`document.getElementById("timeline").innerText`);
    expect(texts).toContain("</script><script>window.planted = 1</script>");
    expect(texts).toContain("POST /v1/messages, 500");
    expect(await page.evaluate("typeof window.planted")).toBe("undefined");
    expect(await page.evaluate(`document.querySelectorAll("img, iframe, link, script[src]").length`)).toBe(0);
    expect(page.requests).toEqual([report]);
    expect(page.complaints).toEqual([]);
  });

  test("its policy keeps even a script that got into the page from running and from asking the network", async () => {
    await page.evaluate(
      `document.body.append(Object.assign(document.createElement("script"), { textContent: "window.planted = 2" }), Object.assign(document.createElement("img"), { src: "http://127.0.0.1:9/x" }))`,
    );
    await eventually("the browser refuses both", () => page.complaints.length >= 2);
    expect(await page.evaluate("typeof window.planted")).toBe("undefined");
    expect(page.complaints.every((text) => text.includes("Content Security Policy"))).toBe(true);
    await page.open(report);
  });

  test("filters by kind with a click, by what failed, by turn, and by a search", async () => {
    const count = (fits: (entry: StoryEntry) => boolean): number => entries.filter(fits).length;
    await page.click(`#kinds input[value="api"]`);
    expect(await page.evaluate(rows)).toBe(count(({ kind }) => kind !== "api"));
    await page.click(`#kinds input[value="api"]`);
    await page.click("#errors");
    expect(await page.evaluate(rows)).toBe(count(({ failed }) => failed));
    await page.click("#errors");
    await page.evaluate(
      `(() => { const t = document.getElementById("turn"); t.value = "1"; t.dispatchEvent(new Event("change")); })()`,
    );
    expect(await page.evaluate(rows)).toBe(count(({ turn }) => turn === 1));
    await page.evaluate(
      `(() => { const t = document.getElementById("turn"); t.value = ""; t.dispatchEvent(new Event("change")); })()`,
    );
    await page.click("#search");
    await page.type("ONERROR");
    expect(await page.evaluate(rows)).toBe(1);
    expect(await page.evaluate(`document.getElementById("status").textContent`)).toBe(`1 of ${entries.length} entries`);
  });

  test("an entry opens with the keyboard, and shows what was asked and answered as text", async () => {
    await page.evaluate(`document.querySelector("#timeline summary").focus()`);
    await page.press("Enter", 13);
    await eventually("it is open", () => page.evaluate<boolean>(`document.querySelector("#timeline details").open`));
    const body = await eventually("its body is there", () =>
      page.evaluate<string | null>(`document.querySelector("#timeline .body")?.innerText || null`),
    );
    expect(body).toContain("<img src=x onerror=alert(1)>");
    expect(body).toContain("session_oai_raw.log, exchange 2");
    expect(await page.evaluate(`document.querySelectorAll("img").length`)).toBe(0);
  });

  test("plays the terminal as plain text", async () => {
    expect(await page.evaluate(`document.getElementById("screen").textContent`)).toBe("hello\n");
    await page.evaluate(`document.getElementById("speed").value = "16"`);
    await page.click("#play");
    await eventually("the second frame", () =>
      page.evaluate<boolean>(`document.getElementById("screen").textContent === "hello\\nworld\\n"`),
    );
  });

  test("has headings and labels, and is dark for whoever wants it dark", async () => {
    expect(
      await page.evaluate(`[...document.querySelectorAll("h1, h2")].map((one) => one.textContent).join()`),
    ).toMatch(/^Session .*,Timeline,Terminal$/);
    expect(
      await page.evaluate(
        `[...document.querySelectorAll("input, select")].every((one) => one.labels.length > 0 || one.ariaLabel)`,
      ),
    ).toBe(true);
    const back = `getComputedStyle(document.body).backgroundColor`;
    const light = await page.evaluate(back);
    await page.ask("Emulation.setEmulatedMedia", { features: [{ name: "prefers-color-scheme", value: "dark" }] });
    expect(await page.evaluate(back)).not.toBe(light);
    await page.ask("Emulation.setEmulatedMedia", { features: [] });
  });

  test("of a long story only the beginning is drawn until somebody goes on", async () => {
    const [entry] = entries;
    if (entry === undefined) throw new Error("there is a story");
    const long = Array.from({ length: 20_000 }, (_, index) => ({
      ...entry,
      seq: index + 1,
      what: `entry ${index}`,
    }));
    const path = join(ground.root, "long.html");
    writeFileSync(path, [...reportPage({ title: "long", facts: [], entries: long, frames: [], gaps: [] })].join(""));
    await page.open(pathToFileURL(path).href);
    const first = await page.evaluate<number>(rows);
    expect(first).toBeGreaterThan(0);
    expect(first).toBeLessThan(1_000);
    await page.click("#more");
    await eventually("more is drawn", async () => (await page.evaluate<number>(rows)) > first);
    expect(await page.evaluate(`document.getElementById("terminal").hidden`)).toBe(true);
  });
});
