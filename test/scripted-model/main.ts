// The scripted model as a program: reeve-scripted-model.

import { parseArgs } from "node:util";
import { DIRECTIVE_HELP } from "./directive.ts";
import { startScriptedModel } from "./scripted-model.ts";

const usage = `Usage: reeve-scripted-model [--port N]

A model on 127.0.0.1 for codex, claude and gemini that does what the directives in the prompt say.
Prints {"url", "pid"} as one line of JSON when it is ready; GET <url>/requests shows what was asked.

  --port N   listen there instead of on a free port
  --help     show this

Directives, each as [[...]] in the prompt, in the order in which they are to happen:

${DIRECTIVE_HELP.map(([form, what]) => `  ${`[[${form}]]`.padEnd(28)}${what}`).join("\n")}

What stands beside them is answered in a sentence. A prompt without directives is answered too.
`;

async function main(args: readonly string[]): Promise<void> {
  const options = readOptions(args);
  if (options === undefined) {
    process.stderr.write(usage);
    process.exitCode = 2;
    return;
  }
  if (options.help) {
    process.stdout.write(usage);
    return;
  }
  const model = await startScriptedModel({ port: options.port });
  const stop = (): void => void model.close();
  process.once("SIGTERM", stop);
  process.once("SIGINT", stop);
  process.stdout.write(`${JSON.stringify({ url: model.url, pid: process.pid })}\n`);
}

function readOptions(args: readonly string[]): { readonly help: boolean; readonly port: number } | undefined {
  try {
    const { values } = parseArgs({
      args: [...args],
      options: { port: { type: "string", default: "0" }, help: { type: "boolean", default: false } },
    });
    const port = Number(values.port);
    if (!/^\d+$/.test(values.port) || port > 65_535) return undefined;
    return { help: values.help, port };
  } catch {
    return undefined;
  }
}

try {
  await main(process.argv.slice(2));
} catch (error) {
  process.stderr.write(`reeve-scripted-model: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}
