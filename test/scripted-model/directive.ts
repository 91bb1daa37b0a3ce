// Owns the `[[...]]` language: finds directives in a prompt and reads each of them. Knows nothing of HTTP or vendors.

export type Directive =
  | { readonly kind: "delay"; readonly ms: number }
  | { readonly kind: "until"; readonly file: string }
  | { readonly kind: "say"; readonly text: string }
  | { readonly kind: CallKind; readonly command: string }
  | { readonly kind: "stream"; readonly pieces: number; readonly pauseMs: number }
  | { readonly kind: "hang"; readonly midway: boolean }
  | { readonly kind: "status"; readonly status: number; readonly times: number }
  | { readonly kind: "retry-after"; readonly seconds: number }
  | { readonly kind: "limit"; readonly ms: number; readonly once: boolean }
  | { readonly kind: "error"; readonly error: VendorError; readonly times: number }
  | { readonly kind: "used"; readonly percent: number }
  | { readonly kind: "disconnect"; readonly midway: boolean };

/**
 * `and` joins the call before it in the same answer; `background` and `agent` work on when the turn goes on; `tool`
 * names any tool of the agent's, with its input as JSON.
 */
export type CallKind = "shell" | "and" | "background" | "agent" | "tool";

/** What a vendor may refuse a request for, besides a limit that resets: each has errors of its own for these. */
export const VENDOR_ERRORS = ["rate", "quota", "billing", "auth", "context", "overloaded"] as const;
export type VendorError = (typeof VENDOR_ERRORS)[number];

export interface Script {
  readonly directives: readonly Directive[];
  /** The prompt without its directives. */
  readonly rest: string;
}

export function parseScript(prompt: string): Script {
  const directives: Directive[] = [];
  let rest = "";
  let at = 0;
  while (at < prompt.length) {
    const end = prompt.startsWith("[[", at) ? closingOf(prompt, at) : undefined;
    const directive = end === undefined ? undefined : readDirective(prompt.slice(at + 2, end - 2).trim());
    if (end !== undefined && directive !== undefined) {
      directives.push(directive);
      at = end;
    } else {
      rest += prompt[at];
      at += 1;
    }
  }
  return { directives, rest: rest.replaceAll(/[ \t]+/g, " ").trim() };
}

/** Brackets nest, so that a shell command may hold a `[[ -f x ]]` of its own. */
function closingOf(prompt: string, start: number): number | undefined {
  let depth = 0;
  for (let at = start; at < prompt.length - 1; at += 1) {
    const pair = prompt.slice(at, at + 2);
    if (pair !== "[[" && pair !== "]]") continue;
    depth += pair === "[[" ? 1 : -1;
    at += 1;
    if (depth === 0) return at + 1;
  }
  return undefined;
}

/** For --help: how each is written, and what it does. */
export const DIRECTIVE_HELP: readonly (readonly [form: string, what: string])[] = [
  ["delay 2s", "wait so long (ms, s or m)"],
  ["until /a/file", "wait until that file is there"],
  ["say TEXT", "answer with this text"],
  ["big 5000", "answer with so many characters"],
  ["stream 20 100ms", "answer in so many pieces, with a pause after each"],
  ["shell COMMAND", "call the agent's tool that runs a command"],
  ["and COMMAND", "another call in the same answer"],
  ["background COMMAND", "run a command that goes on after the turn"],
  ["agent TEXT", "start a subagent with this prompt"],
  ["tool NAME {...}", "call any tool of the agent, with its input as JSON"],
  ["hang", "answer nothing; [[hang midway]]: stop in the middle"],
  ["disconnect", "close the connection; [[disconnect midway]]: in the middle"],
  ["status 529 times 2", "refuse with this HTTP status, so often or always"],
  ["retry-after 5", "say so when it refuses"],
  ["limit 5m once", "a usage limit that resets then, for one request or all"],
  ["used 80", "tell that so many percent of a limit are used"],
  [`error ${VENDOR_ERRORS[0]} times 2`, `refuse as the vendor does: ${VENDOR_ERRORS.join(", ")}`],
];

export const DIRECTIVE_WORDS = (): readonly string[] => Object.keys(readers);

const readers: Readonly<Record<string, (rest: string) => Directive | undefined>> = {
  delay: (rest) => {
    const ms = readDuration(rest);
    return ms === undefined ? undefined : { kind: "delay", ms };
  },
  until: (file) => (file.startsWith("/") ? { kind: "until", file } : undefined),
  say: (text) => ({ kind: "say", text }),
  shell: (command) => readCall("shell", command),
  and: (command) => readCall("and", command),
  background: (command) => readCall("background", command),
  agent: (command) => readCall("agent", command),
  tool: (call) => (toolCallIn(call) === undefined ? undefined : readCall("tool", call)),
  big: (rest) => (/^\d{1,8}$/.test(rest) ? { kind: "say", text: bigText(Number(rest)) } : undefined),
  stream: (rest) => {
    const [pieces = "", pause = "", ...more] = rest.split(/\s+/);
    const pauseMs = readDuration(pause);
    if (!/^[1-9]\d{0,4}$/.test(pieces) || pauseMs === undefined || more.length > 0) return undefined;
    return { kind: "stream", pieces: Number(pieces), pauseMs };
  },
  hang: (rest) => readMidway("hang", rest),
  disconnect: (rest) => readMidway("disconnect", rest),
  status: (rest) => {
    const match = /^([45]\d\d)(?:\s+times\s+(\d{1,4}))?$/.exec(rest);
    if (match === null) return undefined;
    return { kind: "status", status: Number(match[1]), times: match[2] === undefined ? Infinity : Number(match[2]) };
  },
  limit: (rest) => {
    const [duration = "", once, ...more] = rest.split(/\s+/);
    const ms = readDuration(duration);
    if (ms === undefined || (once ?? "once") !== "once" || more.length > 0) return undefined;
    return { kind: "limit", ms, once: once !== undefined };
  },
  error: (rest) => {
    const [, name, times] = /^(\w+)(?:\s+times\s+(\d{1,4}))?$/.exec(rest) ?? [];
    const error = VENDOR_ERRORS.find((known) => known === name);
    if (error === undefined) return undefined;
    return { kind: "error", error, times: times === undefined ? Infinity : Number(times) };
  },
  used: (rest) => (/^(?:\d{1,2}|100)$/.test(rest) ? { kind: "used", percent: Number(rest) } : undefined),
  "retry-after": (rest) => (/^\d{1,5}$/.test(rest) ? { kind: "retry-after", seconds: Number(rest) } : undefined),
};

/** A known word with arguments that make no sense is answered as text, so that a typing error in a test is seen. */
function readDirective(inner: string): Directive | undefined {
  const [, word = "", rest = ""] = /^(\S+)\s*([\s\S]*)$/.exec(inner) ?? [];
  const reader = Object.hasOwn(readers, word) ? readers[word] : undefined;
  if (reader === undefined) return undefined;
  return reader(rest) ?? { kind: "say", text: `Bad directive: ${inner}` };
}

/** `Write {"file_path":"a","content":"b"}` */
export function toolCallIn(text: string): { readonly name: string; readonly input: unknown } | undefined {
  const [, name = "", json = ""] = /^(\S+)\s+(\{[\s\S]*\})$/.exec(text) ?? [];
  try {
    return name === "" ? undefined : { name, input: JSON.parse(json) as unknown };
  } catch {
    return undefined;
  }
}

function readCall(kind: CallKind, command: string): Directive | undefined {
  return command === "" ? undefined : { kind, command };
}

function readMidway(kind: "hang" | "disconnect", rest: string): Directive | undefined {
  return rest === "" || rest === "midway" ? { kind, midway: rest === "midway" } : undefined;
}

function readDuration(text: string): number | undefined {
  const match = /^(\d+(?:\.\d+)?)(ms|s|m)$/.exec(text);
  if (match === null) return undefined;
  return Math.round(Number(match[1]) * { ms: 1, s: 1000, m: 60_000 }[match[2] as "ms" | "s" | "m"]);
}

/** The same for the same length, and without repetition: Gemini CLI 0.61.0 takes repeated text for a loop and stops. */
function bigText(length: number): string {
  const words = "amber birch cedar delta ember fjord grove heron inlet jetty knoll larch marsh north ochre pearl".split(
    " ",
  );
  let text = "";
  let state = 1;
  while (text.length < length) {
    state = (state * 48_271) % 2_147_483_647;
    text += `${words[state % words.length]}${state % 9 === 0 ? ".\n" : " "}`;
  }
  return text.slice(0, length);
}
