import { expect, test } from "vitest";
import { parse } from "smol-toml";
import { hookFlags } from "./hook-flags.ts";

test("each hook is trusted by the hash that Codex 0.166.0 computed for it", () => {
  const flags = hookFlags("/tmp/session/hook.sh");
  const config = parse(flags.filter((flag) => flag !== "-c").join("\n"));
  expect(config).toMatchObject({
    hooks: {
      Stop: [{ hooks: [{ type: "command", command: "'/tmp/session/hook.sh'", timeout: 3 }] }],
      state: { "/<session-flags>/config.toml:stop:0:0": { trusted_hash: STOP_HASH } },
    },
  });
});

/** As `hooks/list` of its app-server gave it as `currentHash`. */
const STOP_HASH = "sha256:5125d847cd59ea844b97900fd8514222c8dfb641109606ebb10738f5a4524079";
