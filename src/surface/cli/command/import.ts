import { resolve } from "node:path";
import type { OutputOf } from "../../../client/operation-types.ts";
import { answer, answerInWords } from "../answer.ts";
import { usage } from "../usage.ts";
import type { CliCommand, CliContext } from "../command.ts";
import { relativeTime } from "../relative-time.ts";
import { oneLine } from "../session-text.ts";
import { layOut } from "../table.ts";
import { rulerFor } from "../text-ruler.ts";

export const importCommand: CliCommand = {
  name: "import",
  summary: "take in an archive that reeve export wrote, to look at a session from elsewhere",
  arguments: [{ name: "file", isOptional: true, completion: "file" }],
  options: [
    { name: "list", summary: "show what was imported" },
    { name: "remove", value: "ID", summary: "remove an import with its files; the archive stays" },
  ],
  notes: [
    "The archive is checked first: every checksum, every path, its size. One that is damaged is refused, and nothing of it is kept.",
    "An import is no session: it is not in reeve list, and nothing can be started from it. reeve show tells its story, and its report opens in a browser.",
  ],
  examples: [
    { line: "reeve import builder.tar.gz", does: "check it and take it in" },
    { line: "reeve import --list", does: "what was imported, and where the reports are" },
    { line: "reeve import --remove import-k3v9xw2apq", does: "remove it again" },
  ],

  async run(input, context) {
    const [file] = input.arguments;
    const removed = input.text("remove");
    const asked = [file !== undefined, input.flag("list"), removed !== undefined].filter(Boolean).length;
    if (asked !== 1)
      throw usage("import-what", "Give import an archive, --list or --remove ID: reeve import builder.tar.gz");
    if (file !== undefined) return await takeIn(resolve(context.cwd(), file), context);
    if (removed !== undefined) return await remove(removed, context);
    return await list(context);
  },
};

type Import = OutputOf<"importArchive">;

async function takeIn(path: string, context: CliContext): Promise<number> {
  const imported = await context.client().importArchive({ path, timeout_seconds: 36_000 });
  answerInWords(
    context,
    imported,
    () => `Imported ${oneLine(imported.name)} as ${imported.import_id}.
Its story: reeve show ${imported.import_id}
Its report: ${imported.report}
`,
  );
  return 0;
}

async function remove(id: string, context: CliContext): Promise<number> {
  const removed = await context.client().removeImport({ import: id });
  answerInWords(context, removed, () => `Removed ${id} (${oneLine(removed.name)}).\n`);
  return 0;
}

const COLUMNS = [
  { title: "IMPORT" },
  { title: "NAME", least: 10 },
  { title: "AGENT", dropped: 2 },
  { title: "IMPORTED", dropped: 1 },
  { title: "REPORT", least: 20 },
];

async function list(context: CliContext): Promise<number> {
  const { imports } = await context.client().listImports({});
  const rows = imports.map((one: Import) => [
    one.import_id,
    oneLine(one.name),
    oneLine(one.agent),
    relativeTime(one.imported_at, Date.now()),
    one.report,
  ]);
  const cells = rows.map((row) => row.map((text) => ({ text })));
  const table = layOut(COLUMNS, cells, context.output.width, await rulerFor(rows.flat()));
  answer(context, { imports }, () => (rows.length === 0 ? "Nothing was imported.\n" : table));
  return 0;
}
