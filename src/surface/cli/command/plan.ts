import { readFileSync } from "node:fs";
import { join } from "node:path";
import { answer } from "../answer.ts";
import type { CliCommand } from "../command.ts";
import { tellingMistakes } from "../manifest-command.ts";
import { FILE_OPTION, manifestPath, planOf } from "../manifest-file.ts";
import { planText } from "../manifest-text.ts";

/** As diff and terraform plan -detailed-exitcode do. */
const DIFFERENT = 2;

export const planCommand: CliCommand = {
  name: "plan",
  summary: "check a manifest (reeve.toml) and show what reeve up would do; nothing is changed",
  arguments: [],
  options: [
    FILE_OPTION,
    {
      name: "prune",
      summary: "as reeve up --prune would do it: sessions that are no longer in the manifest are ended",
    },
    { name: "schema", summary: "print the JSON Schema of manifests, for your editor" },
  ],
  notes: [
    "Exits with 0 if everything is as the manifest says, with 2 if there is a difference, and with 78 if the manifest has mistakes. All mistakes are shown at once, each with its line and column.",
    "start: it does not run. replace: the manifest says something else than when it was started; it is ended after its turn and started anew. bring-back: its process is gone. keep: nothing to do. remove: only reeve up --prune ends it.",
  ],
  examples: [
    { line: "reeve plan", does: "what reeve up would do with the reeve.toml of this project" },
    { line: "reeve plan -f fleet.toml --json", does: "the same for another file, for a program" },
    {
      line: "reeve plan --schema",
      does: "put it into a file, and write `#:schema ./reeve.schema.json` at the top of reeve.toml",
    },
  ],

  async run(input, context) {
    if (input.flag("schema")) {
      context.output.print(readFileSync(join(context.root, "docs/spec/manifest.schema.json"), "utf8"));
      return 0;
    }
    return await tellingMistakes(context, async () => {
      const file = manifestPath(input, context);
      const plan = await planOf(context.client(), file, context, { prune: input.flag("prune") });
      answer(context, plan, () => planText(plan));
      return plan.different ? DIFFERENT : 0;
    });
  },
};
