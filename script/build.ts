/**
 * Builds dist/: the CLI and the daemon as CommonJS (it starts fastest: no loader of modules, no URLs) with what
 * is seldom needed in chunks beside them; the capture proxy, the programs that adapters run, the scripted model and
 * the client as ES modules; and the client's types. Nothing is loaded from node_modules at run time.
 */
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type OutputAsset, type OutputChunk, rolldown } from "rolldown";

const root = join(import.meta.dirname, "..");
const dist = join(root, "dist");

interface Bundle {
  readonly name: string;
  readonly input: string;
  readonly format: "cjs" | "esm";
}

const bundles: readonly Bundle[] = [
  { name: "cli", input: "src/surface/cli/main.ts", format: "cjs" },
  { name: "daemon", input: "src/daemon-main.ts", format: "cjs" },
  { name: "capture-proxy", input: "src/capture-proxy-main.ts", format: "esm" },
  { name: "practice-program", input: "src/agent/practice/program.ts", format: "esm" },
  { name: "codex-bootstrap", input: "src/agent/codex/bootstrap.ts", format: "esm" },
  { name: "docker-attach", input: "src/runtime/docker/attach-program.ts", format: "esm" },
  { name: "run-beside", input: "src/runtime/tmux/beside-program.ts", format: "esm" },
  { name: "probe-program", input: "src/probe-program.ts", format: "esm" },
  { name: "search-program", input: "src/search/program.ts", format: "esm" },
  { name: "scripted-model", input: "test/scripted-model/main.ts", format: "esm" },
  { name: "client", input: "src/client/client.ts", format: "esm" },
];

/** As rolldown writes the imports of a chunk, minified. */
const BUILTIN = /\bimport(?:\{([^{}]*)\}|([\w$]+)|\*as ([\w$]+))from"(node:[\w/]+)";/g;

/** Most commands need neither, nor does the daemon to be ready; they cost a command as much as half of what it does itself. */
const RARELY = /\brequire\("(node:crypto|node:readline\/promises)"\)/g;

rmSync(dist, { recursive: true, force: true });
mkdirSync(dist, { recursive: true });
await Promise.all(bundles.map(build));
// `npm start` does without TypeScript, and so without the client's types; the package must have them.
const compiler = join(root, "node_modules/typescript/bin/tsc");
if (existsSync(compiler) || process.argv.includes("--complete"))
  execFileSync(process.execPath, [compiler, "-p", "tsconfig.types.json"], { cwd: root, stdio: "inherit" });
// Written last: setup.sh takes it as the sign of a complete build.
writeFileSync(join(dist, ".built"), "");

async function build({ name, input, format }: Bundle): Promise<void> {
  const extension = format === "cjs" ? "cjs" : "js";
  const bundle = await rolldown({
    input: { [name]: join(root, input) },
    platform: "node",
    preserveEntrySignatures: "allow-extension",
    // The SDK of MCP would bring a validator of JSON schemas (0.3 MB) that nothing here asks for anything.
    resolve: { alias: { "@modelcontextprotocol/server/_shims": join(root, "src/surface/mcp/sdk-shims.ts") } },
    // `ws` would look for these two native helpers in whatever node_modules is near.
    transform: { define: { "process.env.WS_NO_BUFFER_UTIL": "true", "process.env.WS_NO_UTF_8_VALIDATE": "true" } },
    // The client is for programs that may be bundled themselves.
    plugins:
      name === "client"
        ? []
        : [{ name: "lighter", generateBundle: (_options, output) => Object.values(output).forEach(lighten) }],
    // A warning is a mistake somebody will meet at run time.
    onLog: (level, log) => {
      if (level === "warn") throw new Error(log.message);
    },
  });
  await bundle.write({
    dir: dist,
    format,
    minify: true,
    entryFileNames: `[name].${extension}`,
    chunkFileNames: `${name}-[name].${extension}`,
  });
  await bundle.close();
}

function lighten(file: OutputAsset | OutputChunk): void {
  if (file.type !== "chunk") return;
  const code = file.code
    .replaceAll(BUILTIN, withoutFacade)
    .replaceAll(RARELY, 'new Proxy({},{get:(own,n)=>(own.whole??=require("$1"))[n]})');
  // With one character beyond Latin-1 in it, V8 keeps the whole text of a file in two bytes for each character.
  file.code = code.replaceAll(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

/**
 * An import reads every export of the module, and some load much when they are read: node:fs its streams and promises,
 * node:crypto the whole of WebCrypto, node:util worker threads. So what is used is taken from the module itself.
 */
function withoutFacade(_all: string, names: string | undefined, whole = "", star = "", module = ""): string {
  const wanted = names === undefined ? `${whole}${star}` : `{${names.replaceAll(/ as /g, ":")}}`;
  return `const ${wanted}=process.getBuiltinModule("${module}");`;
}
