/**
 * Approval rules: what is answered without asking a person. Pure: the rules
 * come from config.toml (rule-table.ts), their patterns are compiled elsewhere.
 *
 * The first rule that fits a question decides. If both an `allow` and a `deny`
 * of that rule fit, it is denied. An `allow` must fit the whole of what is
 * asked, so that nothing can be hidden behind it (`npm test; rm -rf ~`); a
 * `deny` is looked for anywhere in it.
 */
import { isAbsolute, relative, resolve } from "node:path";
import {
  type Approval,
  type ApprovalRequest,
  type Choices,
  type Concerns,
  isOnlySeen,
  LONGEST_TEXT,
  type Ruling,
} from "../session/approval.ts";
import type { Session } from "../session/session.ts";

/** `true`: everything. Patterns are linear in time, whatever the agent writes. */
export type RuleMatch = true | readonly RulePattern[];

export interface RulePattern {
  readonly source: string;
  /** The whole text, from its first character to its last. */
  fits(text: string): boolean;
  /** Somewhere in it. */
  isIn(text: string): boolean;
}

export interface ApprovalRule {
  readonly name: string;
  /** Null: whichever. */
  readonly agents: readonly string[] | null;
  readonly roles: readonly string[] | null;
  /** Absolute. What is asked must be done in one of them, and an edit change files in them alone. */
  readonly directories: readonly string[] | null;
  /** command, edit, tool, other, or the agent's own name of a tool. */
  readonly tools: readonly string[] | null;
  readonly allow: RuleMatch | null;
  readonly deny: RuleMatch | null;
}

/** A question, and who asks it. */
export interface Question {
  readonly agent: string;
  readonly role: string;
  /** Where the session was started. */
  readonly cwd: string;
  readonly approval: ApprovalRequest;
  readonly choices: Choices | null;
  readonly concerns: Concerns | null;
}

/** The same for a question of a session. */
export function rulingFor(rules: readonly ApprovalRule[], { identity }: Session, approval: Approval): Ruling | null {
  const { agent, role, launch } = identity;
  const { choices, concerns } = approval;
  return rulingOn(rules, { agent, role, cwd: launch.cwd, approval, choices, concerns });
}

/** Null: a person decides. */
export function rulingOn(rules: readonly ApprovalRule[], question: Question): Ruling | null {
  // What only the screen shows is not known well enough, and a dialog ("trust this folder?") is the person's own affair.
  if (isOnlySeen(question.approval) || question.choices !== null) return null;
  for (const rule of rules) {
    if (!isAbout(rule, question)) continue;
    if (isDenied(rule, question)) return { rule: rule.name, decision: "denied" };
    if (isAllowed(rule, question)) return { rule: rule.name, decision: "approved" };
  }
  return null;
}

function isAbout({ agents, roles, tools, directories }: ApprovalRule, question: Question): boolean {
  const { kind } = question.approval;
  const names = [kind, question.concerns?.tool ?? kind];
  return (
    (agents === null || agents.includes(question.agent)) &&
    (roles === null || roles.includes(question.role)) &&
    (tools === null || tools.some((tool) => names.includes(tool))) &&
    (directories === null || isWithin(directories, question))
  );
}

/** Of an edit every file; of anything else, the directory in which it would be done. */
function isWithin(directories: readonly string[], { cwd, approval, concerns }: Question): boolean {
  const base = resolve(cwd, approval.cwd ?? ".");
  const places = approval.kind === "edit" ? (concerns?.paths ?? []).map((path) => resolve(base, path)) : [base];
  return places.length > 0 && places.every((place) => directories.some((directory) => isBelow(directory, place)));
}

function isBelow(directory: string, place: string): boolean {
  const way = relative(directory, place);
  return way === "" || (way.split("/", 1)[0] !== ".." && !isAbsolute(way));
}

function isDenied({ deny }: ApprovalRule, question: Question): boolean {
  if (deny === null || deny === true) return deny === true;
  return deny.some((pattern) => textsOf(question).some((text) => pattern.isIn(text)));
}

/** Never what is not known in full. */
function isAllowed({ allow }: ApprovalRule, question: Question): boolean {
  if (allow === null || !isWhole(question)) return false;
  if (allow === true) return true;
  const texts = wholeTextsOf(question);
  return texts.length > 0 && texts.every((text) => allow.some((pattern) => pattern.fits(text)));
}

/** Everything in it that could give it away. */
function textsOf({ approval: { title, subject }, concerns }: Question): readonly string[] {
  return [title, ...(subject === null ? [] : [subject]), ...(concerns?.paths ?? [])];
}

/** The command, each file of an edit, or the tool's input. */
function wholeTextsOf({ approval: { kind, subject }, concerns }: Question): readonly string[] {
  if (kind === "edit") return concerns?.paths ?? [];
  return subject === null ? [] : [subject];
}

function isWhole({ approval: { kind, subject }, concerns }: Question): boolean {
  if (kind === "edit") return (concerns?.paths ?? []).length > 0;
  return subject !== null && subject.length <= LONGEST_TEXT;
}
