/**
 * The script of the report, as the browser runs it. It must put texts into the
 * page as texts only (`textContent`), never as markup: agents wrote them. The
 * page's policy allows this script by its hash and no other.
 */
export const PAGE_SCRIPT = String.raw`"use strict";
(() => {
  const BATCH = 200;
  const entries = JSON.parse(document.getElementById("story").textContent);
  const list = document.getElementById("timeline");
  const more = document.getElementById("more");
  const status = document.getElementById("status");
  const search = document.getElementById("search");
  const errors = document.getElementById("errors");
  const turn = document.getElementById("turn");
  const boxes = [...document.querySelectorAll("#kinds input")];
  const texts = new Map();
  let shown = [];
  let drawn = 0;

  function element(name, className, text) {
    const made = document.createElement(name);
    if (className) made.className = className;
    if (text !== undefined && text !== null) made.textContent = text;
    return made;
  }
  function two(number) { return String(number).padStart(2, "0"); }
  function clock(at) {
    const date = new Date(at);
    return Number.isNaN(date.getTime()) ? "--:--:--" : [date.getHours(), date.getMinutes(), date.getSeconds()].map(two).join(":");
  }
  function took(ms) {
    if (ms === null || ms === undefined) return "";
    return ms < 1000 ? Math.round(ms) + " ms" : (ms / 1000).toFixed(1) + " s";
  }
  function searchText(entry) {
    let text = texts.get(entry);
    if (text === undefined) {
      text = (entry.actor + " " + entry.type + " " + entry.what + " " + (entry.text || "") + " " + JSON.stringify(entry.data)).toLowerCase();
      texts.set(entry, text);
    }
    return text;
  }
  function block(into, title, text) {
    if (text === null || text === undefined || text === "") return;
    into.append(element("h4", "", title), element("pre", "", text));
  }
  function fill(body, entry) {
    const data = entry.data || {};
    if (entry.type === "model-call") {
      block(body, "Request (its beginning)", data.request);
      block(body, "Response (its beginning)", data.response);
      body.append(element("p", "hint", "The whole is in files/session_oai_raw.log, exchange " + data.exchange + "."));
    } else if (entry.kind === "tools") {
      block(body, "Input", data.input);
      block(body, "Result", data.result);
    } else block(body, "Text", entry.text);
    const { request, response, input, result, ...rest } = data;
    block(body, "Everything else", JSON.stringify({ source: entry.source, seq: entry.seq, at: entry.at, type: entry.type, ...rest }, null, 2));
  }
  function row(entry) {
    const item = element("li", entry.turn === null || entry.kind === "turns" ? "" : "inside");
    const details = element("details", "");
    const summary = element("summary", entry.failed ? "failed" : "");
    const time = element("time", "", clock(entry.at));
    time.dateTime = entry.at;
    time.title = entry.at;
    summary.append(time, element("span", "kind", entry.kind), element("span", "actor", entry.actor),
      element("span", "what", entry.what), element("span", "took", took(entry.ms)));
    if (entry.failed) summary.append(element("span", "flag", "failed"));
    details.append(summary);
    details.addEventListener("toggle", () => {
      if (details.open && details.children.length === 1) {
        const body = element("div", "body");
        fill(body, entry);
        details.append(body);
      }
    });
    item.append(details);
    return item;
  }
  function draw() {
    const part = shown.slice(drawn, drawn + BATCH);
    list.append(...part.map(row));
    drawn += part.length;
    more.hidden = drawn >= shown.length;
    status.textContent = shown.length + " of " + entries.length + " entries" + (more.hidden ? "" : ", " + drawn + " drawn");
  }
  function choose() {
    const kinds = new Set(boxes.filter((box) => box.checked).map((box) => box.value));
    const wanted = search.value.trim().toLowerCase();
    shown = entries.filter((entry) => kinds.has(entry.kind) && (!errors.checked || entry.failed)
      && (turn.value === "" || String(entry.turn) === turn.value) && (wanted === "" || searchText(entry).includes(wanted)));
    list.replaceChildren();
    drawn = 0;
    draw();
  }
  const counts = new Map();
  for (const entry of entries) counts.set(entry.kind, (counts.get(entry.kind) || 0) + 1);
  for (const box of boxes) {
    box.nextElementSibling.textContent = box.value + " (" + (counts.get(box.value) || 0) + ")";
    box.addEventListener("change", choose);
  }
  for (const number of [...new Set(entries.map((entry) => entry.turn))].filter((one) => one !== null)) {
    const option = element("option", "", "turn " + number);
    option.value = String(number);
    turn.append(option);
  }
  search.addEventListener("input", choose);
  errors.addEventListener("change", choose);
  turn.addEventListener("change", choose);
  more.addEventListener("click", draw);
  new IntersectionObserver((seen) => { if (seen.some((one) => one.isIntersecting) && !more.hidden) draw(); }).observe(more);
  choose();

  const frames = JSON.parse(document.getElementById("frames").textContent);
  if (frames.length > 0) {
    const screen = document.getElementById("screen");
    const slider = document.getElementById("frame");
    const play = document.getElementById("play");
    const speed = document.getElementById("speed");
    const moment = document.getElementById("moment");
    let timer = null;
    document.getElementById("terminal").hidden = false;
    slider.max = String(frames.length - 1);
    function show(index) {
      const text = frames.slice(Math.max(0, index - 400), index + 1).map((frame) => frame[1]).join("");
      screen.textContent = text.split("\n").slice(-200).join("\n");
      moment.textContent = frames[index][0].toFixed(1) + " s";
      slider.setAttribute("aria-valuetext", moment.textContent);
    }
    function stop() { clearTimeout(timer); timer = null; play.textContent = "Play"; }
    function step() {
      const index = Number(slider.value);
      if (index >= frames.length - 1) return stop();
      const wait = Math.min(2, frames[index + 1][0] - frames[index][0]) * 1000 / Number(speed.value);
      timer = setTimeout(() => { slider.value = String(index + 1); show(index + 1); step(); }, Math.max(0, wait));
    }
    play.addEventListener("click", () => {
      if (timer !== null) return stop();
      if (Number(slider.value) >= frames.length - 1) slider.value = "0";
      play.textContent = "Pause";
      step();
    });
    slider.addEventListener("input", () => { stop(); show(Number(slider.value)); });
    show(0);
  }
})();
`;
