/**
 * How text is drawn, as SGR codes set it: colours (16, 256 and RGB), weight,
 * slant, underline, reverse. Owns the palette of the recording.
 */
export interface Pen {
  /** `#rrggbb`; null is the terminal's own. */
  readonly text: string | null;
  readonly ground: string | null;
  readonly isBold: boolean;
  readonly isFaint: boolean;
  readonly isItalic: boolean;
  readonly isUnderlined: boolean;
  readonly isStruck: boolean;
  readonly isReversed: boolean;
}

export const PLAIN: Pen = {
  text: null,
  ground: null,
  isBold: false,
  isFaint: false,
  isItalic: false,
  isUnderlined: false,
  isStruck: false,
  isReversed: false,
};

/** Of the terminal itself: dark, and easy to read on a dark and on a white page. */
export const SCREEN = { text: "#e6edf3", ground: "#0d1117" } as const;

/** The sixteen have no fixed values; these keep their contrast on the dark ground. */
const NORMAL = ["484f58", "ff7b72", "3fb950", "d29922", "58a6ff", "bc8cff", "39c5cf", "b1bac4"];
const BRIGHT = ["6e7681", "ffa198", "56d364", "e3b341", "79c0ff", "d2a8ff", "56d4dd", "ffffff"];

/** The pen after one sequence with these parameters, as `38;5;208;1`. */
export function penAfter(parameters: string, before: Pen): Pen {
  const codes = parameters.split(";").map(Number);
  let pen = before;
  for (let at = 0; at < codes.length; at += 1) {
    const code = codes[at] ?? 0;
    if (code !== 38 && code !== 48) {
      pen = penAfterCode(code, pen);
      continue;
    }
    const isIndexed = codes[at + 1] === 5;
    const values = codes.slice(at + 2, at + (isIndexed ? 3 : 5));
    const colour = isIndexed ? indexedColour(values[0] ?? 0) : hex(values);
    pen = code === 38 ? { ...pen, text: colour } : { ...pen, ground: colour };
    at += 1 + values.length;
  }
  return pen;
}

function penAfterCode(code: number, pen: Pen): Pen {
  if (code >= 30 && code <= 37) return { ...pen, text: indexedColour(code - 30) };
  if (code >= 90 && code <= 97) return { ...pen, text: indexedColour(code - 82) };
  if (code >= 40 && code <= 47) return { ...pen, ground: indexedColour(code - 40) };
  if (code >= 100 && code <= 107) return { ...pen, ground: indexedColour(code - 92) };
  return code === 0 ? PLAIN : { ...pen, ...CHANGES[code] };
}

const CHANGES: Readonly<Record<number, Partial<Pen>>> = {
  1: { isBold: true },
  2: { isFaint: true },
  3: { isItalic: true },
  4: { isUnderlined: true },
  7: { isReversed: true },
  9: { isStruck: true },
  22: { isBold: false, isFaint: false },
  23: { isItalic: false },
  24: { isUnderlined: false },
  27: { isReversed: false },
  29: { isStruck: false },
  39: { text: null },
  49: { ground: null },
};

/** 0–15, the cube of 6 × 6 × 6, and 24 greys, as xterm has them. */
function indexedColour(index: number): string {
  if (index < 16) return `#${[...NORMAL, ...BRIGHT][index] ?? ""}`;
  if (index >= 232) return hex(Array<number>(3).fill(8 + 10 * (index - 232)));
  const cube = index - 16;
  return hex(
    [Math.floor(cube / 36), Math.floor(cube / 6) % 6, cube % 6].map((level) => (level === 0 ? 0 : 55 + 40 * level)),
  );
}

function hex(values: readonly number[]): string {
  return `#${values.map((value) => value.toString(16).padStart(2, "0")).join("")}`;
}
