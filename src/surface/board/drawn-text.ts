/** Text with SGR sequences as lines of spans. A style carries on from line to line, as it does on a terminal. Pure. */
import { runsOf } from "../../platform/terminal-style.ts";
import { span } from "./line.ts";
import type { Line } from "./line.ts";

export function drawnLines(text: string, hasColour: boolean): readonly Line[] {
  let style: Style = {};
  return text.split("\n").map((raw) =>
    runsOf(raw).flatMap(({ style: codes, plain }) => {
      if (codes !== null) style = styleAfter(style, codes.split(";"));
      const shown = plain.replaceAll("\t", "  ");
      return shown === "" ? [] : [span(shown, hasColour ? Object.values(style).join(";") : "")];
    }),
  );
}

/** What is set, each aspect by its own SGR parameters. */
type Style = Readonly<Partial<Record<Aspect, string>>>;
type Aspect = "weight" | "faint" | "italic" | "underline" | "reverse" | "struck" | "colour" | "ground";

const ASPECTS: Readonly<Record<string, Aspect>> = {
  "1": "weight",
  "2": "faint",
  "3": "italic",
  "4": "underline",
  "7": "reverse",
  "9": "struck",
};

const ENDS: Readonly<Record<string, readonly Aspect[]>> = {
  "22": ["weight", "faint"],
  "23": ["italic"],
  "24": ["underline"],
  "27": ["reverse"],
  "29": ["struck"],
  "39": ["colour"],
  "49": ["ground"],
};

function styleAfter(before: Style, codes: readonly string[]): Style {
  let style = before;
  for (let at = 0; at < codes.length; at += 1) {
    const code = codes[at] ?? "";
    const ended = ENDS[code];
    if (code === "0") style = {};
    else if (ended !== undefined)
      style = Object.fromEntries(Object.entries(style).filter(([aspect]) => !ended.some((one) => one === aspect)));
    else if (code === "38" || code === "48") {
      const length = codes[at + 1] === "5" ? 3 : 5;
      style = { ...style, [code === "38" ? "colour" : "ground"]: codes.slice(at, at + length).join(";") };
      at += length - 1;
    } else style = { ...style, [ASPECTS[code] ?? (isGround(Number(code)) ? "ground" : "colour")]: code };
  }
  return style;
}

function isGround(code: number): boolean {
  return (code >= 40 && code <= 47) || (code >= 100 && code <= 107);
}
