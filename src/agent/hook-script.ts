/**
 * The program that agents run as their hook: a few lines of POSIX shell that
 * put what they are given (on standard input, or as the last argument with
 * `--argument`) into the session's spool and return. It needs no daemon, no
 * Node and no network, prints nothing, and always ends with 0, so that it
 * cannot make an agent fail.
 *
 *   1763247600123456789-4242.json    nanoseconds since the epoch, pid
 *
 * Written under a name with a dot in front and renamed, so that a reader only
 * ever sees whole records.
 */
import { join } from "node:path";
import type { PlannedFile } from "./contract.ts";

const SCRIPT = `#!/bin/sh
umask 077
cd -- "\${0%/*}/spool" 2>/dev/null || exit 0
name=$(date +%s%N)-$$.json
if [ "$1" = --argument ]; then
  for last in "$@"; do :; done
  printf '%s\\n' "$last" >".$name"
else
  cat >".$name"
fi 2>/dev/null && mv -- ".$name" "$name" 2>/dev/null
exit 0
`;

export function hookScript(sessionDir: string): PlannedFile {
  return { path: join(sessionDir, "hook.sh"), content: SCRIPT, isExecutable: true };
}
