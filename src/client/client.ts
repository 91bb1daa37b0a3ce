/** The package's entry `reeve/client`: a client of the installation this file belongs to. */
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { createClient } from "./create-client.ts";
import type { Client, ClientOptions } from "./create-client.ts";
import { daemonCommand } from "./daemon-command.ts";

export { ReeveError } from "../platform/reeve-error.ts";
export type { Client, ClientOptions } from "./create-client.ts";
export type { BuildOptions } from "./build-image.ts";
export type { CallOptions } from "./call.ts";
export type { UnreadMailCount } from "./request.ts";
export type { FollowInput, FollowOptions } from "./follow-events.ts";
export type { WaitInput } from "./wait.ts";
export type { EventView, ImageProgress, InputOf, OutputOf, SessionView } from "./operation-types.ts";

export function connect(options: ClientOptions = {}): Client {
  return createClient(options, {
    daemonCommand: () => daemonCommand(packageRoot(import.meta.dirname)),
    environment: process.env,
  });
}

/** The nearest directory above that holds the launcher: this file's depth differs between source and build. */
function packageRoot(directory: string): string {
  if (existsSync(join(directory, "bin", "reeve")) || directory === dirname(directory)) return directory;
  return packageRoot(dirname(directory));
}
