/** What approval rules learn of a question of Codex. */
import { expect, test } from "vitest";
import { concernsOfHook } from "./hook-approval.ts";
import { approvalOf, changesOf } from "./protocol-approval.ts";

test("the files of a patch, and where they are moved to", () => {
  const patch = [
    "*** Begin Patch",
    "*** Update File: src/a.ts",
    "*** Move to: /etc/a.ts",
    "@@",
    "+*** not a line of the patch",
    "*** Add File: b.ts",
    "+*** Add File: c.ts",
    "*** End Patch",
  ].join("\n");
  const record = { tool_name: "apply_patch", tool_input: { command: patch } };
  expect(concernsOfHook(record)).toEqual({ tool: "apply_patch", paths: ["src/a.ts", "/etc/a.ts", "b.ts"] });
});

test("the files of a change that the app-server asks about", () => {
  const item = {
    type: "fileChange",
    changes: [
      { path: "/w/a.ts", kind: { type: "update", move_path: "/w/b.ts" }, diff: "@@" },
      { path: "/w/c.ts", kind: { type: "add" }, diff: "+x" },
    ],
  };
  const changed = changesOf(item);
  const changes = new Map(changed === null ? [] : [["call", changed]]);
  const params = { itemId: "call", turnId: "turn" };
  const question = approvalOf("item/fileChange/requestApproval", params, 7, changes);
  expect(question?.concerns).toEqual({ tool: "apply_patch", paths: ["/w/a.ts", "/w/b.ts", "/w/c.ts"] });
  const unknown = approvalOf("item/fileChange/requestApproval", { ...params, itemId: "other" }, 8, changes);
  expect(unknown?.concerns).toEqual({ tool: "apply_patch", paths: [] });
});
