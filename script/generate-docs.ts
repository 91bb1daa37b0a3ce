/** Writes the documents that come from the code; with --check only says whether they are current. */
import { globSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Operation } from "../src/operation/contract.ts";
import { describeEvents } from "../src/operation/event-schema.ts";
import { operations } from "../src/operation/operations.ts";
import { renderStateDiagram } from "../src/session/state-diagram.ts";
import { EXIT_CODE_NOTES, EXIT_CODES } from "../src/surface/cli/exit-codes.ts";
import { REACH_CELL, withTables } from "./document-tables.ts";
import { renderFailures } from "./failure-table.ts";
import { renderRooms } from "./import-graph.ts";
import { renderManifestKeys, renderManifestSchema } from "./manifest-reference.ts";
import { renderMessages } from "./list-messages.ts";
import { renderCatalogue, renderTools } from "./mcp-catalogue.ts";
import { renderWorkStates } from "./work-tables.ts";

const root = join(import.meta.dirname, "..");
const notice = "<!-- Made by `npm run docs` from the code; do not edit. -->\n\n";

const documents = {
  "src/surface/mcp/catalogue.json": renderCatalogue(),
  "docs/spec/state-diagram.md": `# The states of a session\n\n${notice}An arrow is labelled with the commands and observations that cause it. \`planned\` is for sessions that a manifest names and nobody started yet.\n\n\`\`\`mermaid\n${renderStateDiagram()}\n\`\`\`\n`,
  "docs/spec/work-states.md": `# The states of an item of work\n\n${notice}An arrow is labelled with the changes that lead from one state to the other; \`change_work\` reports most of them, and Reeve makes \`begin\`, \`verified\` and \`reset-review\` itself. \`release\` leads to \`failed\` after the last attempt, and \`request-changes\` after the third round. What to do about an item in each state: [next-work.md](next-work.md).\n\n\`\`\`mermaid\n${renderWorkStates()}\n\`\`\`\n`,
  "docs/spec/operations.md": `# Operations\n\n${notice}Every verb, as HTTP serves it on the daemon's unix socket. Inputs and outputs in full, with a description of every field: \`/openapi.json\`; types of events: [events.md](events.md).\n\nA field that an operation does not know is refused, with the nearest known name. GET takes its fields in the query, POST as a JSON object in the body. An answer tells a place in the log as \`cursor\`; every operation takes it as \`since\`.\n\nThe operator is whoever can open that socket, and may call every operation on any session. The column _by a session_ says on which sessions a session itself may call the operation; its _descendants_ are the sessions it started and those that they started.\n\n| operation | HTTP | effect | by a session | streams | what it does |\n| --- | --- | --- | --- | --- | --- |\n${operations.map(operationRow).join("\n")}\n`,
  "docs/spec/manifest.schema.json": renderManifestSchema(),
  "docs/spec/manifest.md": `# Keys of a manifest\n\n${notice}What may stand in a \`reeve.toml\`. How to use it: [the guide](../guide/manifest.md). The same for editors: [manifest.schema.json](manifest.schema.json).\n\n${renderManifestKeys()}`,
  "docs/spec/mcp-tools.md": `# MCP tools\n\n${notice}Every operation as MCP offers it ([guide](../guide/mcp.md)). A tool has the name and the fields of its operation ([operations.md](operations.md)). _For sessions_: listed for an agent that runs in a session of Reeve; the others are for you and for agents that act for you.\n\n${renderTools()}`,
  "docs/spec/events.md": `# Events\n\n${notice}What \`read_events\`, \`reeve events --json\` and the event stream tell. Each event has \`seq\` (its number, a cursor), \`at\`, \`session_id\` (null: it is about Reeve itself), \`caller\` (who asked for it; null: nobody did), \`via\` (from where: \`cli\`, \`board\`, \`mcp\` or \`http\`, as the caller says itself; only where somebody asked), \`type\` and \`data\`. Later versions may add types and fields: ignore those you do not know. The fields in full: \`/openapi.json\`.\n\n| type | what happened | data |\n| --- | --- | --- |\n${Object.entries(describeEvents()).map(eventRow).join("\n")}\n`,
  "docs/spec/rooms.md": `# Rooms and imports\n\n${notice}Which room of \`src/\` imports which, tests left out. A dotted arrow is an import of types only. What each room owns is in [ARCHITECTURE.md](../../ARCHITECTURE.md); \`script/check-imports.ts\` holds what may be imported, this is what is.\n\n${renderRooms(join(root, "src"))}`,
  "docs/spec/messages.md": `# Messages\n\n${notice}Every text in \`src/\` that a person may read, by file: errors, help, what commands print, what events and records say, the descriptions of the API. \`{name}\` stands for a variable. Read this file when you have changed texts: each should be understood at the first reading, and an error should say what to do next.\n\n${renderMessages(join(root, "src"))}`,
  "docs/spec/failures.md": `# Kinds of failure\n\n${notice}What can go wrong with a session, and what Reeve does about it. \`failure\` of a session and of the events \`turn-failed\`, \`turn-corrected\` and \`session-exited\` is one of these; the words of whoever reported it are in \`error\` or \`reason\` beside it. Why this list: [decision 38](../decisions/0038-failures-have-names.md). What each agent really says: [agent-behaviors](agent-behaviors/).\n\n${renderFailures()}`,
  "docs/spec/exit-codes.md": `# Exit codes\n\n${notice}What a script may rely on, for every command. \`reeve help exit-codes\` prints the same, and with \`--json\` as an object.\n\n| code | name | meaning |\n| --- | --- | --- |\n${EXIT_CODES.map(({ code, name, meaning }) => `| ${code} | ${name} | ${meaning} |`).join("\n")}\n\n${EXIT_CODE_NOTES.join("\n\n")}\n\nWith \`--json\`, \`wait\` and \`--wait\` print \`done\` (what you waited for happened), \`ok\` (the exit code is 0), \`reason\` (the name in this table), \`why\` (for nothing-to-wait-for) and \`cursor\`.\n`,
};

function eventRow([type, [description, data]]: readonly [string, readonly [string, object]]): string {
  const fields = Object.keys(data).map((field) => `\`${field}\``);
  return `| \`${type}\` | ${description} | ${fields.join(", ")} |`;
}

function operationRow({ name, method, path, effect, callers, stream, summary }: Operation): string {
  const reach = REACH_CELL[callers.session];
  return `| \`${name}\` | \`${method} ${path}\` | ${effect} | ${reach} | ${stream === undefined ? "" : "yes"} | ${summary} |`;
}

/** Written by hand, with tables that are made. */
const mixed = globSync("docs/**/*.md", { cwd: root })
  .filter((path) => !(path in documents))
  .map((path) => [path, readFileSync(join(root, path), "utf8")] as const)
  .filter(([, text]) => text.includes("<!-- table: "))
  .map(([path, text]) => [path, withTables(text)] as const);

let isStale = false;
for (const [path, text] of [...Object.entries(documents), ...mixed]) {
  const file = join(root, path);
  if (!process.argv.includes("--check")) {
    writeFileSync(file, text);
    continue;
  }
  if (readIfThere(file) === text) continue;
  console.error(`${path} is not what the code says: run npm run docs`);
  isStale = true;
}
process.exit(isStale ? 1 : 0);

function readIfThere(path: string): string | null {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return null;
  }
}
