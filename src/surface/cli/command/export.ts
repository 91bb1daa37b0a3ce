import { resolve } from "node:path";
import { answerInWords } from "../answer.ts";
import { usage } from "../usage.ts";
import type { CliCommand, CliContext, CommandInput } from "../command.ts";
import { oneLine } from "../session-text.ts";
import { versionOf } from "../version.ts";

export const exportCommand: CliCommand = {
  name: "export",
  summary: "write one archive with everything about a session, and a report that opens in a browser",
  arguments: [{ name: "session", completion: "session" }],
  options: [
    {
      name: "output",
      short: "o",
      value: "FILE",
      summary: "where the archive goes; by default <session>.tar.gz in the current directory",
      completion: "file",
    },
    {
      name: "otlp",
      value: "FILE|URL",
      summary: "instead of an archive, OpenTelemetry traces: to a file, or to a collector that takes OTLP over HTTP",
      completion: "file",
    },
    { name: "with-content", summary: "with --otlp: also what was said, asked and answered" },
  ],
  notes: [
    "The archive holds the session's directory, its transcript, events, mail and story, report.html, and manifest.json with the checksum of every file. Known secrets are taken out. An existing file is never overwritten.",
    "A session that runs can be exported, and goes on. To look at an archive from elsewhere: reeve import.",
    "With --otlp, traces hold a span for the session, each turn, each model call and each tool call, with the names of OpenTelemetry's GenAI conventions. If they are sent again, they keep their ids. Headers for a collector are read from OTEL_EXPORTER_OTLP_HEADERS.",
  ],
  examples: [
    { line: "reeve export builder", does: "builder.tar.gz, in the current directory" },
    { line: "reeve export builder -o /tmp/builder.tar.gz && tar tf /tmp/builder.tar.gz", does: "see what is in it" },
    { line: "reeve export builder --otlp http://localhost:4318", does: "send its traces to a collector" },
  ],

  async run(input, context) {
    const [session = ""] = input.arguments;
    const to = input.text("otlp");
    if (to !== undefined) return await giveTraces(session, to, input, context);
    if (input.flag("with-content"))
      throw usage("bad-value", "--with-content belongs to --otlp: an archive always has everything. Leave it out.");
    const output = resolve(context.cwd(), input.text("output") ?? `${session}.tar.gz`);
    const { bytesText } = await import("../prune-text.ts");
    const exported = await context.client().exportSession({ session, output, timeout_seconds: 36_000 });
    answerInWords(context, exported, () => {
      const left = exported.left_out.map((one) => `Not in it: ${oneLine(one)}\n`).join("");
      return `${left}Exported ${session} to ${exported.output} (${exported.files} files, ${bytesText(exported.bytes)}).\n`;
    });
    return 0;
  },
};

async function giveTraces(session: string, to: string, input: CommandInput, context: CliContext): Promise<number> {
  if (input.text("output") !== undefined)
    throw usage("bad-value", "--otlp and --output exclude each other: --otlp already says where the traces go.");
  const { exportTraces } = await import("../otlp.ts");
  const given = await exportTraces(context.client(), {
    session,
    to,
    hasContent: input.flag("with-content"),
    version: versionOf(context.root),
    cwd: context.cwd(),
    environment: context.environment,
  });
  answerInWords(
    context,
    given,
    () =>
      `Wrote ${given.spans} spans to ${oneLine(given.to)}.${given.trace_id === null ? "" : ` Trace ${given.trace_id}.`}\n`,
  );
  return 0;
}
