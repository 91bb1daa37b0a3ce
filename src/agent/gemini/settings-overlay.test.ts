import fc from "fast-check";
import { expect, test } from "vitest";
import { withoutComments } from "../../platform/json-comments.ts";
import { settingsOverlay } from "./settings-overlay.ts";

const NO_MCP = { server: null, workspaceText: null, policies: { users: "/o/policies", own: "/s/policy.toml" } };
const PATH = "/home/user/.gemini/settings.json";

function overlay(text: string | null): { readonly settings: unknown; readonly hasHooks: boolean } {
  const { content, hasHooks } = settingsOverlay(text, PATH, () => ({ BeforeAgent: "/s/hook.sh" }), NO_MCP);
  return { settings: JSON.parse(content), hasHooks };
}

const OWN = [{ hooks: [{ type: "command", name: "reeve", command: "/s/hook.sh", timeout: 30_000 }] }];

test("without settings of the user's", () => {
  expect(overlay(null)).toEqual({
    settings: {
      general: { enableAutoUpdate: false, sessionRetention: { enabled: false } },
      ui: { hideWindowTitle: false, dynamicWindowTitle: true },
      hooksConfig: { notifications: false },
      hooks: { BeforeAgent: OWN },
    },
    hasHooks: true,
  });
});

test("what the user set stays, hooks run beside theirs", () => {
  const theirs = [{ matcher: "x", hooks: [{ type: "command", command: "theirs" }] }];
  const user = {
    security: { auth: { selectedType: "gemini-api-key" } },
    general: { vimMode: true, sessionRetention: { enabled: true, maxAge: "7d" } },
    ui: { theme: "GitHub", hideWindowTitle: true },
    mcpServers: { one: { command: "$HOME/one" } },
    hooks: { BeforeAgent: theirs, AfterTool: theirs },
  };
  expect(overlay(`// mine\n${JSON.stringify(user)}`).settings).toEqual({
    ...user,
    general: { vimMode: true, enableAutoUpdate: false, sessionRetention: { enabled: false, maxAge: "7d" } },
    ui: { theme: "GitHub", hideWindowTitle: false, dynamicWindowTitle: true },
    hooksConfig: { notifications: true },
    hooks: { BeforeAgent: [...theirs, ...OWN], AfterTool: theirs },
  });
});

test("hooks that the user switched off stay off", () => {
  const { settings, hasHooks } = overlay('{"hooksConfig":{"enabled":false}}');
  expect(hasHooks).toBe(false);
  expect(settings).toEqual({
    hooksConfig: { enabled: false },
    general: { enableAutoUpdate: false, sessionRetention: { enabled: false } },
    ui: { hideWindowTitle: false, dynamicWindowTitle: true },
  });
});

test.each(["{", "[]", "7"])("settings that gemini itself would refuse are refused: %s", (text) => {
  expect(() => overlay(text)).toThrow(
    expect.objectContaining({ code: "gemini-settings-unreadable", kind: "config" }) as Error,
  );
});

test("comments go, what looks like one in a string stays", () => {
  const text = '{ /* a */ "url": "http://x", // b\n "quote": "\\"//", "n": 1 }';
  expect(JSON.parse(withoutComments(text))).toEqual({ url: "http://x", quote: '"//', n: 1 });
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      expect(JSON.parse(withoutComments(JSON.stringify(value)))).toEqual(JSON.parse(JSON.stringify(value)));
    }),
  );
});
