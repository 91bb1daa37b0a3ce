/**
 * Whether Codex is logged in. Codex must be asked about this separately:
 * without a log-in, its server still opens threads and calls them idle, while
 * its TUI shows the log-in dialog and takes no prompt (0.166.0).
 */
import type { Reading } from "../../session/reading.ts";
import { isFields } from "../../platform/json-fields.ts";
import type { Rpc } from "./rpc.ts";

export interface AccountReader {
  /** Says so when nobody is logged in, and again when that has changed. */
  look(): Promise<void>;
  /** Nobody is, as far as is known: what the server calls idle then takes no prompt. */
  isMissing(): boolean;
}

export function createAccountReader(rpc: Rpc, onReading: (reading: Reading) => void): AccountReader {
  let isMissing = false;
  return {
    isMissing: () => isMissing,
    async look() {
      const { account, requiresOpenaiAuth } = await rpc.call("account/read", { refreshToken: false });
      const wasMissing = isMissing;
      isMissing = requiresOpenaiAuth === true && !isFields(account);
      if (isMissing === wasMissing) return;
      const said = isMissing
        ? ({
            activity: "awaiting-input",
            asks: "Codex is not logged in: run `codex login`, or log in in its pane.",
          } as const)
        : ({ activity: "idle" } as const);
      onReading({ source: "protocol", detail: "account/read", ...said });
    },
  };
}
