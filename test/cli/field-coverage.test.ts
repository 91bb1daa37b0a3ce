/** The CLI is written by hand over the operations, so this holds the two together: no input field is forgotten by accident. */
import { expect, it } from "vitest";
import * as z from "zod/mini";
import { operations } from "../../src/operation/operations.ts";
import { CATALOGUE } from "../../src/surface/mcp/catalogue.ts";
import { commands } from "../../src/surface/cli/commands.ts";

type OperationName = (typeof operations)[number]["name"];

/** For each field: the option `--x` or argument `<x>` that sets it, or why there is none. */
const COVERAGE = {
  start_session: {
    command: "start",
    fields: {
      agent: "<agent>",
      prompt: "<prompt>",
      args: "what follows --",
      resume: "--resume",
      name: "--name",
      role: "--role",
      cwd: "--cwd",
      branch: "--branch",
      runtime: "--runtime",
      mcp: "--no-mcp",
      model: "--model",
      restart: "--restart",
      notify: "--notify",
      env: "--env",
      env_file: "--env-file",
      environment: "not an option: the caller's own environment",
      parent: "not an option: REEVE_SESSION_ID says it, inside a session",
      until: "not an option: the client waits for the process by itself",
    },
  },
  list_sessions: {
    command: "list",
    fields: { all: "--all", role: "--role", agent: "--agent", state: "--state", needs_me: "--needs-me" },
  },
  // It is the `session` of what --json prints.
  get_session: { command: "data", fields: { session: "<session>" } },
  get_session_data: {
    command: "data",
    fields: {
      session: "<session>",
      tail: "--tail",
      since: "--since",
      source: "--source",
      style: "not an option: the board asks for colours",
    },
  },
  list_foreign: { command: "list", fields: {} },
  explain_session: { command: "explain", fields: { session: "<session>" } },
  acknowledge_session: {
    command: "seen",
    fields: {
      session: "<session>",
      revision: "not an option: what was shown, or what there is now",
      through: "--through",
    },
  },
  rename_session: { command: "rename", fields: { session: "<session>", name: "<name>" } },
  list_messages: { command: "messages", fields: { session: "<session>" } },
  cancel_message: { command: "messages", fields: { session: "<session>", message: "--cancel" } },
  send_message: {
    command: "send",
    fields: {
      session: "<session>",
      text: "<text>",
      submit: "--no-enter",
      how: "--steer",
      timeout_seconds: "--timeout",
    },
  },
  send_mail: {
    command: "mail",
    fields: {
      to: "<what>",
      body: "<what>",
      subject: "--subject",
      kind: "--hand-off",
      priority: "--priority",
      in_reply_to: "<what>",
    },
  },
  check_mail: {
    command: "mail",
    fields: {
      session: "--of",
      unread: "--unread",
      archived: "--archived",
      kind: "--kind",
      thread: "--thread",
      from: "--from",
      search: "<what>",
      limit: "--limit",
      page: "--page",
    },
  },
  read_mail: { command: "mail", fields: { mail: "<what>" } },
  archive_mail: { command: "mail", fields: { mail: "<what>" } },
  retract_mail: { command: "mail", fields: { mail: "<what>" } },
  wait_for_session: {
    command: "wait",
    fields: {
      session: "<session>",
      also: "<session>",
      for: "--for",
      mode: "--all",
      since: "--since",
      timeout_seconds: "--timeout",
      reply: "not an option: --json has it, and a person reads the last sentence",
    },
  },
  pause_session: { command: "pause", fields: { session: "<session>", suspend: "--suspend" } },
  resume_session: { command: "resume", fields: { session: "<session>" } },
  restart_session: {
    command: "restart",
    fields: {
      session: "<session>",
      timeout_seconds: "--timeout",
      grace_seconds: "--grace",
      environment: "not an option: the caller's own environment",
    },
  },
  end_session: {
    command: "end",
    fields: {
      session: "<session>",
      when: "--when",
      grace_seconds: "--grace",
      timeout_seconds: "not an option: end waits until it is proven",
    },
  },
  cancel_end: { command: "end", fields: { session: "<session>" } },
  list_approvals: { command: "approvals", fields: { session: "<session>" } },
  answer_approval: {
    command: "approve",
    fields: { session: "<session>", approval_id: "<approval>", decision: "not an option: reeve approve or reeve deny" },
  },
  get_attach_command: {
    command: "attach",
    fields: {
      session: "<session>",
      taken: "not an option: the caller's own tmux is asked",
      read_only: "--read-only",
    },
  },
  diagnose: {
    command: "doctor",
    fields: {
      environment: "not an option: the caller's own environment",
      cwd: "not an option: the caller's own directory",
    },
  },
  read_events: {
    command: "events",
    fields: { since: "--since", session: "<session>", limit: "not an option: it reads page after page" },
  },
  daemon_status: { command: "daemon", fields: {} },
  stop_daemon: { command: "daemon", fields: { with_runtimes: "not an option: reeve uninstall asks for it" } },
} as const satisfies Record<string, { readonly command: string; readonly fields: Readonly<Record<string, string>> }>;

it("covers every operation and nothing else", () => {
  expect(Object.keys(COVERAGE).toSorted()).toEqual(
    operations.map((operation): OperationName => operation.name).toSorted(),
  );
});

it("has a command for every MCP tool, so that an agent whose MCP server died can go on in its shell", () => {
  expect(CATALOGUE.length).toBeGreaterThan(10);
  for (const { tool } of CATALOGUE) {
    const entry = Object.entries(COVERAGE).find(([name]) => name === tool.name)?.[1];
    const names: readonly string[] = commands.map(({ name }) => name);
    expect([tool.name, names.includes(entry?.command ?? "")]).toEqual([tool.name, true]);
    // Each field that a model may give can be given there too.
    const { properties = {} } = tool.inputSchema as { readonly properties?: object };
    expect(Object.keys(entry?.fields ?? {})).toEqual(expect.arrayContaining(Object.keys(properties)));
  }
});

for (const operation of operations) {
  const entry = Object.entries(COVERAGE).find(([name]) => name === operation.name)?.[1];
  if (entry === undefined) continue;

  it(`${operation.name}: every input field can be given on the command line`, () => {
    const { properties = {} } = z.toJSONSchema(operation.input, { io: "input", unrepresentable: "any" });
    expect(Object.keys(entry.fields).toSorted()).toEqual(Object.keys(properties).toSorted());
    const command = commands.find((candidate) => candidate.name === entry.command);
    const known = [
      ...(command?.options ?? []).map((option) => `--${option.name}`),
      ...(command?.arguments ?? []).map((argument) => `<${argument.name}>`),
    ];
    for (const way of Object.values<string>(entry.fields)) {
      if (/^(?:--\S|<)/.test(way)) expect(known).toContain(way);
    }
  });
}
