import { readFileSync } from "node:fs";
import { messageOf } from "../../../platform/reeve-error.ts";
import { answer } from "../answer.ts";
import { usage } from "../usage.ts";
import type { CliCommand, CliContext, CommandInput } from "../command.ts";
import { oneLine } from "../session-text.ts";
import { absolutePath } from "../working-directory.ts";

const ACTIONS = ["build", "list"] as const;
const NETWORKS = ["default", "host", "none"] as const;
/** Of build, all of them. */
const OPTIONS = ["agent", "package", "ca-certificate", "base", "tag", "network"];

export const imageCommand: CliCommand = {
  name: "image",
  summary: "build the image that sessions in containers run in, and list those you built",
  arguments: [{ name: "action", isOptional: true, choices: ACTIONS }],
  options: [
    {
      name: "agent",
      value: "NAME[@VERSION]",
      summary: "build: an agent to install; by default the newest codex, claude and gemini",
      isRepeatable: true,
      completion: ["codex", "claude", "gemini"],
    },
    { name: "package", value: "NAME", summary: "build: a further Debian package", isRepeatable: true },
    {
      name: "ca-certificate",
      value: "FILE",
      summary: "build: a PEM file with certificate authorities that programs in the image should trust",
      isRepeatable: true,
      completion: "file",
    },
    {
      name: "base",
      value: "IMAGE",
      summary: "build: the image to build on, which is Debian with Node; by default node:22-bookworm-slim",
    },
    { name: "tag", value: "NAME", summary: "build: what to call it; by default reeve-session" },
    { name: "no-cache", summary: "build: repeat every step, for example to get the newest agents" },
    {
      name: "network",
      value: "NETWORK",
      summary: "build: the network that its steps have",
      choices: NETWORKS,
    },
  ],
  notes: [
    "Without an action it is list.",
    "build needs a running Docker Engine, or Podman with its Docker socket. The engine keeps what it has built, so the same build again takes a moment. Ctrl-C stops it.",
    "An agent without a version is the newest one at the time of the first build. To get a newer one later, give its version or use --no-cache.",
    "No log-in is ever put into an image. Any other image will do for sessions, too, if it has tmux and the agent.",
  ],
  examples: [
    { line: "reeve image build", does: "build reeve-session with the newest Codex, Claude Code and Gemini CLI" },
    {
      line: "reeve image build --agent codex@0.166.0 --package python3 --tag team-codex",
      does: "one agent, in a version of your choice, with Python",
    },
    {
      line: "reeve image build --ca-certificate company-ca.pem",
      does: "behind a proxy that has certificates of its own",
    },
    { line: "reeve image list", does: "see what you have built, with versions and age" },
  ],

  async run(input, context) {
    const [action = "list"] = input.arguments;
    if (action === "build") return await build(input, context);
    requireNoOptions(input);
    return await list(context);
  },
};

function requireNoOptions(input: CommandInput): void {
  const given = OPTIONS.find((name) => input.texts(name).length > 0) ?? (input.flag("no-cache") ? "no-cache" : null);
  if (given !== null)
    throw usage("unknown-option", `image list has no option --${given}; it belongs to reeve image build.`);
}

async function list(context: CliContext): Promise<number> {
  const listed = await context.client().listImages();
  if (listed.images.length === 0 && !context.isJson) {
    context.output.note("There is no image that Reeve built. To build one: reeve image build");
    return 0;
  }
  const { imageTable } = await import("../image-text.ts");
  const table = context.isJson ? "" : await imageTable(listed.images, context.output, Date.now());
  answer(context, listed, () => table);
  return 0;
}

async function build(input: CommandInput, context: CliContext): Promise<number> {
  const agents = input.texts("agent");
  const [base, tag, network] = [input.text("base"), input.text("tag"), input.text("network")];
  const request = {
    ...(agents.length === 0 ? {} : { agents: [...agents] }),
    packages: [...input.texts("package")],
    ca_certificates: input.texts("ca-certificate").map((file) => certificates(context, file)),
    no_cache: input.flag("no-cache"),
    ...(base === undefined ? {} : { base }),
    ...(tag === undefined ? {} : { tag }),
    ...(network === undefined ? {} : { network: network as (typeof NETWORKS)[number] }),
  };
  const { builtText, createProgressView } = await import("../image-text.ts");
  const view = createProgressView(context.isJson ? "silent" : context.output);
  context.onInterrupt(() => "Stopped. Steps that were done are not repeated when you build it again.");
  try {
    const image = await context.client().buildImage(request, { onProgress: view.show });
    view.end();
    answer(context, image, () => builtText(image, tag ?? "reeve-session"));
    return 0;
  } catch (error) {
    view.fail(error);
    throw error;
  }
}

/** Read here: the path is the caller's. Whether it holds certificates, the daemon says. */
function certificates(context: CliContext, file: string): string {
  try {
    const text = readFileSync(absolutePath(context, file), "utf8");
    if (text.includes("-----BEGIN CERTIFICATE-----")) return text;
  } catch (error) {
    throw usage("bad-value", `The certificate file ${oneLine(file)} cannot be read: ${messageOf(error)}.`);
  }
  throw usage(
    "bad-value",
    `${oneLine(file)} holds no certificate as PEM (BEGIN CERTIFICATE); convert it, for example with openssl x509 -inform der.`,
  );
}
