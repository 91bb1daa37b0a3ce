import { expect, test } from "vitest";
import type { Launch } from "../../session/session.ts";
import { sandboxCommand } from "./sandbox.ts";

const launch = (args: readonly string[]): Launch => ({ args, cwd: "/work" }) as unknown as Launch;
const context = (policy: object): string =>
  JSON.stringify({ type: "turn_context", payload: { cwd: "/work", sandbox_policy: policy } });

test("before the first turn the session's own arguments say which sandbox it has", () => {
  const args = ["--sandbox", "workspace-write", "-c", "sandbox_workspace_write.network_access=true"];
  expect(sandboxCommand({ program: "/bin/codex", launch: launch(args), lines: [] })).toEqual([
    "/bin/codex",
    "sandbox",
    "-c",
    'sandbox_mode="workspace-write"',
    "-c",
    "sandbox_workspace_write.network_access=true",
    "--",
  ]);
});

test("what the newest turn worked with counts more", () => {
  const lines = [
    context({ type: "read-only" }),
    context({ type: "workspace-write", network_access: false, writable_roots: ["/a b"] }),
    '{"type":"event_msg","payload":{"text":"\\"turn_context\\""}}',
  ];
  expect(sandboxCommand({ program: "codex", launch: launch(["--yolo"]), lines })).toEqual([
    "codex",
    "sandbox",
    "-c",
    'sandbox_mode="workspace-write"',
    "-c",
    "sandbox_workspace_write.network_access=false",
    "-c",
    "sandbox_workspace_write.exclude_tmpdir_env_var=false",
    "-c",
    "sandbox_workspace_write.exclude_slash_tmp=false",
    "-c",
    'sandbox_workspace_write.writable_roots=["/a b"]',
    "--",
  ]);
});

test.each([
  { lines: [], args: ["--yolo"] },
  { lines: [context({ type: "danger-full-access" })], args: ["--sandbox", "read-only"] },
])("without a sandbox there is nothing to put before a program: %j", ({ lines, args }) => {
  expect(sandboxCommand({ program: "codex", launch: launch(args), lines })).toBeNull();
});
