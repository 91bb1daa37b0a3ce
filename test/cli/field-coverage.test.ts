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
      branch_policy: "--branch-policy",
      allow_shared_checkout: "--allow-shared-checkout",
      worktree: "--worktree",
      base: "--base",
      fetch: "--fetch",
      work: "--work",
      runtime: "--runtime",
      image: "--image",
      memory: "--memory",
      cpus: "--cpus",
      pids: "--pids",
      network: "--network",
      mounts: "--mount",
      mcp: "--no-mcp",
      model: "--model",
      restart: "--restart",
      timeouts: "--timeouts",
      hold: "--hold",
      persist_session: "--persist-session",
      capture: "--capture",
      debug_log: "--debug-log",
      notify: "--notify",
      env: "--env",
      env_file: "--env-file",
      key_files: "--key-file",
      manifest: "not an option: reeve up gives it",
      environment: "not an option: the caller's own environment",
      parent: "not an option: REEVE_SESSION_ID says it, inside a session",
      until: "not an option: the client waits for the process by itself",
      pooled: "not an option: reeve work run says it of its workers",
    },
  },
  list_sessions: {
    command: "list",
    fields: {
      all: "--all",
      ended: "--ended",
      role: "--role",
      agent: "--agent",
      state: "--state",
      needs_me: "--needs-me",
      manifest: "--manifest",
      gone: "not an option: reeve resume-all asks for it",
      limit: "--limit",
      page: "--page",
    },
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
  list_rules: { command: "rules", fields: {} },
  test_rules: { command: "rules", fields: { config: "--config", limit: "--limit" } },
  list_foreign: { command: "list", fields: {} },
  list_quotas: { command: "quota", fields: {} },
  search: {
    command: "search",
    fields: {
      text: "<text>",
      session: "--session",
      agent: "--agent",
      role: "--role",
      kind: "--kind",
      since: "--since",
      until: "--until",
      limit: "--limit",
      page: "--page",
    },
  },
  get_stats: { command: "stats", fields: { by: "--by", since: "--since", until: "--until" } },
  show_session: {
    command: "show",
    fields: {
      session: "<session>",
      only: "--only",
      turn: "--turn",
      errors: "--errors",
      last: "--last",
      since: "--since",
      from: "not an option: --since takes a time as well",
      limit: "not an option: it reads page after page",
    },
  },
  export_session: {
    command: "export",
    fields: {
      session: "<session>",
      output: "--output",
      timeout_seconds: "not an option: it waits until the archive is whole",
    },
  },
  import_archive: {
    command: "import",
    fields: { path: "<file>", timeout_seconds: "not an option: it waits until all is checked" },
  },
  list_imports: { command: "import", fields: {} },
  remove_import: { command: "import", fields: { import: "--remove" } },
  recover: { command: "recover", fields: { session: "<session>", details: "--details" } },
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
      work: "--work",
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
  add_work: {
    command: "work",
    fields: {
      title: "<what>",
      body: "<what>",
      priority: "--priority",
      dependencies: "--depends-on",
      agent: "--agent",
      role: "--role",
      branch: "--branch",
      cwd: "--cwd",
      review: "--review",
      verify: "--verify",
      retry_limit: "--retries",
    },
  },
  list_work: {
    command: "work",
    fields: {
      state: "--state",
      role: "--role",
      agent: "--agent",
      session: "--session",
      search: "--search",
      limit: "--limit",
      page: "--page",
    },
  },
  get_work: { command: "work", fields: { work: "<what>" } },
  next_work: {
    command: "work",
    fields: { work: "<what>", environment: "not an option: the caller's own environment" },
  },
  plan_work: {
    command: "work",
    fields: {
      agent: "--agent",
      verify: "--verify",
      most_workers: "--most-workers",
      reuse: "--no-reuse",
      cwd: "not an option: the caller's own directory",
      except: "not an option: what could not be begun",
      environment: "not an option: the caller's own environment",
    },
  },
  edit_work: {
    command: "work",
    fields: {
      work: "<what>",
      title: "--title",
      body: "<what>",
      priority: "--priority",
      dependencies: "--depends-on",
      agent: "--agent",
      role: "--role",
      branch: "--branch",
      cwd: "--cwd",
      review: "--review",
      verify: "--verify",
      retry_limit: "--retries",
    },
  },
  change_work: {
    command: "work",
    fields: {
      work: "<what>",
      change: "<action>",
      text: "<what>",
      commits: "--commit",
      exit_code: "not an option: reeve work run says it of the command that it ran",
      revision: "not an option: what was planned, or what there is now",
    },
  },
  wait_for_session: {
    command: "wait",
    fields: {
      session: "<session>",
      also: "<session>",
      role: "--role",
      for: "--for",
      mode: "--all",
      since: "--since",
      timeout_seconds: "--timeout",
      reply: "not an option: --json has it, and a person reads the last sentence",
    },
  },
  pause_session: { command: "pause", fields: { session: "<session>", suspend: "--suspend" } },
  resume_session: { command: "resume", fields: { session: "<session>" } },
  hold_session: {
    command: "hold",
    fields: { session: "<session>", reason: "--reason", for_seconds: "--for", until: "--until", release: "--release" },
  },
  set_restart_policy: { command: "restart-policy", fields: { session: "<session>", policy: "<policy>" } },
  restart_session: {
    command: "restart",
    fields: {
      session: "<session>",
      timeout_seconds: "--timeout",
      grace_seconds: "--grace",
      if_gone: "not an option: reeve up and reeve resume-all ask for it",
      environment: "not an option: the caller's own environment",
    },
  },
  end_session: {
    command: "end",
    fields: {
      session: "<session>",
      when: "--when",
      grace_seconds: "--grace",
      even_if_held: "--even-if-held",
      worktree: "--remove-worktree",
      timeout_seconds: "not an option: end waits until it is proven",
    },
  },
  interrupt_session: { command: "interrupt", fields: { session: "<session>" } },
  cancel_end: { command: "end", fields: { session: "<session>" } },
  list_notifications: { command: "notify", fields: {} },
  test_notification: { command: "notify", fields: { channel: "<channel>" } },
  list_approvals: { command: "approvals", fields: { session: "<session>", role: "--role" } },
  answer_approval: {
    command: "approve",
    fields: { session: "<session>", approval_id: "<approval>", decision: "not an option: reeve approve or reeve deny" },
  },
  list_inbox: { command: "inbox", fields: { all: "--all", session: "--session" } },
  answer_inbox: {
    command: "inbox",
    fields: {
      item: "<item>",
      answer: "<answer>",
      text: "<text>",
      for_seconds: "not an option: snooze 30m",
      until: "not an option: snooze 2026-11-18T09:00",
      environment: "not an option: the caller's own environment",
    },
  },
  list_worktrees: { command: "worktree", fields: {} },
  save_worktree: { command: "worktree", fields: { worktree: "<worktree>" } },
  remove_worktree: {
    command: "worktree",
    fields: { worktree: "<worktree>", save: "--save", delete_branch: "--delete-branch" },
  },
  get_attach_command: {
    command: "attach",
    fields: {
      session: "<session>",
      taken: "not an option: the caller's own tmux is asked",
      read_only: "--read-only",
    },
  },
  plan_manifest: {
    command: "plan",
    fields: {
      file: "--file",
      text: "not an option: what is in that file",
      prune: "--prune",
      environment: "not an option: the caller's own environment",
    },
  },
  diagnose: {
    command: "doctor",
    fields: {
      session: "<session>",
      services: "--service",
      environment: "not an option: the caller's own environment",
      cwd: "not an option: the caller's own directory",
    },
  },
  read_events: {
    command: "events",
    fields: { since: "--since", session: "<session>", limit: "not an option: it reads page after page" },
  },
  add_memory: {
    command: "memory",
    fields: {
      text: "<what>",
      kind: "--kind",
      tags: "--tag",
      scope: "--every-role",
      role: "--role",
      cwd: "--cwd",
      session: "--session",
      turn: "--turn",
      commit: "--commit",
    },
  },
  search_memory: {
    command: "memory",
    fields: { text: "<what>", cwd: "--cwd", role: "--role", kind: "--kind", tag: "--tag", limit: "--limit" },
  },
  list_memories: {
    command: "memory",
    fields: {
      memory: "<what>",
      cwd: "--cwd",
      role: "--role",
      kind: "--kind",
      tag: "--tag",
      limit: "--limit",
      page: "--page",
    },
  },
  forget_memory: { command: "memory", fields: { memory: "<what>" } },
  daemon_status: { command: "daemon", fields: {} },
  build_image: {
    command: "image",
    fields: {
      agents: "--agent",
      packages: "--package",
      ca_certificates: "--ca-certificate",
      base: "--base",
      tag: "--tag",
      no_cache: "--no-cache",
      network: "--network",
    },
  },
  list_images: { command: "image", fields: {} },
  prune: { command: "prune", fields: { dry_run: "--dry-run", older_than_seconds: "--older-than" } },
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
