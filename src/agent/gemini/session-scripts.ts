/**
 * The shell scripts of a session, in its directory:
 *
 *   gemini-launch.sh  makes the overlay's links and runs Gemini CLI
 *   gemini-start.sh   the SessionStart hook
 *   gemini-after.sh   the AfterAgent hook
 *   gemini-before.sh  the BeforeAgent hook, where there are reminders (../reminder.ts)
 *
 * The hooks pass what they were given on to the shared hook.sh. They print
 * nothing but a reminder and end with 0 whatever happens.
 *
 * Empty conversations, files of the user's `.gemini` that hold no message, make
 * trouble (0.61.0): a run that was killed before its first prompt leaves one,
 * and then `--session-id` is refused; a resume writes one beside the real file,
 * and then the next `gemini` in the project that has retention on deletes both.
 * Reeve removes those of this session's own id only if the user's Reeve
 * settings say so; otherwise it ignores them.
 */
import { join } from "node:path";
import type { PlannedFile } from "../contract.ts";
import { REMINDER, reminderFunctions } from "../reminder.ts";

export interface SessionScripts {
  readonly launch: PlannedFile;
  readonly start: PlannedFile;
  readonly after: PlannedFile;
  /** Null: hook.sh itself. */
  readonly before: PlannedFile | null;
}

export type EmptyConversations = "kept" | "removed";

export function sessionScripts(sessionDir: string, empty: EmptyConversations, reminds = false): SessionScripts {
  const removal = empty === "removed" ? REMOVE : KEEP;
  return {
    launch: { path: join(sessionDir, "gemini-launch.sh"), content: launchScript(removal), isExecutable: true },
    start: { path: join(sessionDir, "gemini-start.sh"), content: startScript(removal), isExecutable: true },
    after: { path: join(sessionDir, "gemini-after.sh"), content: afterScript(reminds), isExecutable: true },
    before: reminds ? { path: join(sessionDir, "gemini-before.sh"), content: BEFORE, isExecutable: true } : null,
  };
}

const REMOVE = `remove_empty() { if is_own "$1" && ! has_message "$1"; then rm -f -- "$1"; fi; }`;
const KEEP = `remove_empty() { :; }`;

const OWN_FILES = `is_own() { [ -f "$1" ] && head -n 1 -- "$1" | grep -q "^{\\"sessionId\\":\\"$id\\""; }
has_message() { grep -q '^{"id":"[^"]*","timestamp":"[^"]*","type":"[ug]' -- "$1"; }`;

/**
 * Whether gemini will resume a conversation (0.61.0): it plays the log of
 * operations (transcript-line.ts) to its end and wants one message that counts
 * to be left. A first prompt that failed or was cancelled is not: its file
 * still has the line, and a `$set` behind it that drops it again. Prompts
 * that begin with a slash, a question mark or the context that gemini sends
 * along do not count, nor does an answer without text, thought and call.
 */
const IS_RESUMABLE = String.raw`is_resumable() {
  [ -f "$1" ] && awk '
    function counts(text) {
      sub(/^[^"]*","timestamp":"[^"]*","type":"/, "", text)
      if (sub(/^gemini",/, "", text))
        return text !~ /^"content":(""|\[\])/ || text ~ /"thoughts":\[[^]]/ || text ~ /"toolCalls":\[([^]]|$)/
      if (!sub(/^user","content":/, "", text)) return 0
      if (!sub(/^(\[\{"text":)?"/, "", text)) return text !~ /^\[\]/
      while (sub(/^"\},\{"text":"/, "", text));
      sub(/^( |\\n|\\t|\\r)+/, "", text)
      return text !~ /^("|\/|\?|<session_context>|<hook_context>)/
    }
    /^\{"\$rewindTo":"/ {
      split($0, word, "\"")
      for (at = 1; at <= count && id[at] != word[4]; at++);
      count = at <= count ? at - 1 : 0
      next
    }
    /^\{"\$set":/ && !/"messages":\[/ { next }
    /^\{"\$set":/ { count = 0 }
    /^\{"(id|\$set)":/ {
      pieces = split($0, piece, /\{"id":"/)
      for (at = 2; at <= pieces; at++) {
        if (piece[at] !~ /^[^"]*","timestamp":"[^"]*","type":"/) continue
        split(piece[at], word, "\"")
        id[++count] = word[1]
        good[count] = counts(piece[at])
      }
    }
    END { for (at = 1; at <= count; at++) if (good[at]) exit 0; exit 1 }
  ' <"$1"
}`;

/**
 * gemini-launch.sh USER_DIR OVERLAY_DIR CONVERSATION PROGRAM ARGUMENT…
 *
 * A name that gemini may yet create is linked too, so that it is created at
 * the user's. Where gemini replaced a link by a file (it renames some into
 * place), the link comes back at the next start.
 *
 * A conversation whose file holds nothing that gemini would resume is neither
 * resumed nor begun (both are refused): the next id is taken, and told through
 * the spool:
 *
 *   {"reeve":"gemini-conversation","session_id":…}
 *
 * To resume one that has no file is to begin it; one that did hold
 * something, as `gemini-begun` in the session's directory says, and is gone,
 * is not replaced by an empty one: gemini then says so and ends with status 42.
 * Status 199 asks to be started again (a folder was trusted, a setting
 * changed). A conversation that has begun is then continued, and so it is when
 * Reeve did not live to learn that it had begun; it has had its first prompt.
 */
function launchScript(removal: string): string {
  return `#!/bin/sh
user=$1 overlay=$2 first=$3
shift 3
mkdir -p -- "$user/tmp" "$user/history" "$overlay" 2>/dev/null
for path in "$user"/* "$user"/.[!.]* "$user"/oauth_creds.json "$user"/google_accounts.json \\
  "$user"/gemini-credentials.json "$user"/mcp-oauth-tokens.json "$user"/installation_id; do
  name=\${path##*/}
  case $name in settings.json | '*' | '.[!.]*') continue ;; esac
  if [ -d "$overlay/$name" ] && [ ! -h "$overlay/$name" ]; then continue; fi
  ln -sfn -- "$path" "$overlay/$name" 2>/dev/null
done
${OWN_FILES}
${IS_RESUMABLE}
${removal}
state_of() {
  state=free
  for file in "$user"/tmp/*/chats/session-*-"\${id%%-*}".jsonl; do
    is_own "$file" || continue
    if is_resumable "$file"; then state=begun; return; fi
    remove_empty "$file"
    if [ -f "$file" ]; then state=empty; fi
  done 2>/dev/null
}
trap : HUP INT TERM
again= previous=$first
while :; do
  id=$first step=0
  state_of
  while [ $state = empty ]; do
    step=$((step + 1))
    id=$(printf '%08x' $(((0x\${first%%-*} + step) & 0xffffffff)))-\${first#*-}
    state_of
  done
  if [ $step -gt 0 ]; then
    printf '{"reeve":"gemini-conversation","session_id":"%s"}' "$id" | "\${0%/*}/hook.sh"
  fi
  for word in "$@"; do
    shift
    case $word in
      --session-id) if [ $state = begun ]; then word=--resume again=yes; fi ;;
      --resume) if [ $state = free ] && { [ $step -gt 0 ] || [ ! -e "\${0%/*}/gemini-begun" ]; }; then word=--session-id; fi ;;
      --prompt-interactive=*) if [ -n "$again" ] && [ $state = begun ]; then continue; fi ;;
      "$previous") word=$id ;;
    esac
    set -- "$@" "$word"
  done
  previous=$id
  "$@"
  status=$?
  [ $status -eq 199 ] || exit $status
  again=yes
done
`;
}

function startScript(removal: string): string {
  return `#!/bin/sh
record=$(cat)
field() { printf '%s' "$record" | sed -n 's/.*"'"$1"'":"\\([^"\\\\]*\\)".*/\\1/p' | head -n 1; }
${OWN_FILES}
${removal}
case $record in
  *'"source":"resume"'*)
    id=$(field session_id) transcript=$(field transcript_path)
    case $id in
      ????????-*)
        for file in "\${transcript%/*}"/session-*-"\${id%%-*}".jsonl; do remove_empty "$file"; done 2>/dev/null ;;
    esac ;;
esac
printf '%s' "$record" | "\${0%/*}/hook.sh"
exit 0
`;
}

/**
 * AfterAgent comes after every turn that reached the model, whether it was
 * answered, cancelled or failed, and does not say which. The transcript does,
 * by then: a cancelled or failed turn ends with notes (type info or error)
 * behind its last message. So they travel with the record:
 *
 *   {"hook": {…}, "notes": [{"id": …, "type": "error", "content": …}, …]}
 */
function afterScript(reminds: boolean): string {
  return `#!/bin/sh
${IS_RESUMABLE}
${reminds ? `${reminderFunctions(null)}\n` : ""}record=$(cat)
transcript=$(printf '%s' "$record" | sed -n 's/.*"transcript_path":"\\([^"\\\\]*\\)".*/\\1/p' | head -n 1)
notes=$(tail -c 131072 -- "$transcript" 2>/dev/null | awk '
  /^."id":"[^"]*","timestamp":"[^"]*","type":"(info|warning|error)"/ { notes = notes (notes == "" ? "" : ",") $0; next }
  /^."id":"[^"]*","timestamp":"[^"]*","type":"/ { notes = "" }
  END { print notes }')
begun=\${0%/*}/gemini-begun
if [ ! -e "$begun" ] && is_resumable "$transcript"; then printf '' >"$begun"; fi
${reminds ? REMIND : ""}printf '{"hook":%s,"notes":[%s]}' "$record" "$notes" | "\${0%/*}/hook.sh"
exit 0
`;
}

/** Not after a turn that was cancelled or failed. */
const REMIND = `if [ -z "$notes" ] && is_due; then remind; exit 0; fi
`;

/**
 * The reminder comes as a prompt of its own (0.61.0), which goes on with the
 * turn; \`stop_hook_active\` is false again as soon as a tool was called.
 */
const BEFORE = `#!/bin/sh
umask 077
${reminderFunctions(null)}
record=$(cat)
case $record in *'"prompt":"${REMINDER}"'*) exit 0 ;; esac
begin_turn
printf '%s\\n' "$record" | "\${0%/*}/hook.sh"
exit 0
`;
