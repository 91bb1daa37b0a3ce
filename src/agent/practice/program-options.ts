/** The command line of the practice program. */
import { parseArgs } from "node:util";
import { messageOf, ReeveError } from "../../platform/reeve-error.ts";
import { isConversationId } from "./conversation-id.ts";

export interface ProgramOptions {
  readonly conversation: string;
  readonly transcriptPath: string;
  readonly spoolDir: string;
  readonly resume: boolean;
  /** How long an ordinary turn takes. */
  readonly paceMs: number;
  readonly prompt: string | null;
}

const USAGE =
  "Usage: practice --conversation UUID --transcript FILE --spool DIRECTORY [--resume] [--pace MILLISECONDS] [PROMPT]";

/** Long enough to be seen working, short enough not to be waited for. */
const DEFAULT_PACE_MS = 1000;

export function parseProgramOptions(
  args: readonly string[],
  environment: Readonly<Record<string, string | undefined>>,
): ProgramOptions {
  const { values, positionals } = parse(args);
  const { conversation, transcript, spool, resume } = values;
  if (!isConversationId(conversation)) throw usageError("--conversation must be a UUID in lower case.");
  if (!transcript) throw usageError("--transcript must name a file.");
  if (!spool) throw usageError("--spool must name a directory.");
  if (positionals.length > 1) throw usageError("Only one prompt can be given; quote it.");
  return {
    conversation,
    transcriptPath: transcript,
    spoolDir: spool,
    resume: resume ?? false,
    paceMs: paceOf(values.pace ?? environment["PRACTICE_PACE_MS"]),
    prompt: positionals[0] ?? null,
  };
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        conversation: { type: "string" },
        transcript: { type: "string" },
        spool: { type: "string" },
        resume: { type: "boolean" },
        pace: { type: "string" },
      },
    });
  } catch (error) {
    throw usageError(messageOf(error));
  }
}

function paceOf(value: string | undefined): number {
  if (value === undefined || value === "") return DEFAULT_PACE_MS;
  if (!/^\d{1,6}$/.test(value)) throw usageError("--pace must be a whole number of milliseconds below 1000000.");
  return Number(value);
}

function usageError(message: string): ReeveError {
  return new ReeveError({ code: "practice-usage", kind: "usage", message: `${message} ${USAGE}` });
}
