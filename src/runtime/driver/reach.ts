/** Whether a tmux server can be asked, and what it says of itself. */
import type { ControlConnection } from "./control-connection.ts";
import { parseVersion, type TmuxVersion } from "./tmux-version.ts";

export type Reach =
  | { readonly status: "connected"; readonly connection: ControlConnection; readonly server: ServerFacts }
  | { readonly status: "absent"; readonly evidence: string }
  | { readonly status: "unreachable"; readonly evidence: string };

export interface ServerFacts {
  readonly pid: number;
  readonly version: TmuxVersion;
}

export const FACTS_COMMAND = 'display-message -p "server #{pid} #{version}"';

export function parseFacts(line: string | undefined): ServerFacts | null {
  const match = /^server (\d+) (\S+)$/.exec(line ?? "");
  const version = parseVersion(match?.[2] ?? "");
  return match === null || version === null ? null : { pid: Number(match[1]), version };
}
