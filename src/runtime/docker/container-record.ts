/**
 * Reeve's containers as the engine tells of them. One is ours by its labels
 * alone: home, session and incarnation; names are for people, and keep two
 * starts of one incarnation apart. Reads only.
 */
import { SESSION_ID_PATTERN } from "../../session/session-id.ts";
import type { Target } from "../contract.ts";
import type { EngineClient } from "./engine-client.ts";

export const LABELS = {
  home: "dev.reeve.home",
  session: "dev.reeve.session",
  incarnation: "dev.reeve.incarnation",
  role: "dev.reeve.role",
  owner: "dev.reeve.owner",
} as const;

export type ContainerState = "created" | "running" | "paused" | "ended" | "removing";

export interface FoundContainer {
  readonly id: string;
  readonly target: Target;
  readonly state: ContainerState;
}

/** How one ended. */
export interface ContainerEnd {
  readonly code: number | null;
  readonly isOutOfMemory: boolean;
}

export interface ContainerRecords {
  /** All of this home's, or of one session. */
  list(sessionId?: string): Promise<readonly FoundContainer[]>;
  /** That incarnation's; null is proven. */
  find(target: Target): Promise<FoundContainer | null>;
  /** Null where it is gone meanwhile. */
  endOf(id: string): Promise<ContainerEnd | null>;
}

export function containerName(instance: string, { sessionId, incarnation }: Target): string {
  return `reeve-${instance}-${sessionId}-${incarnation}`;
}

export function createContainerRecords(engine: EngineClient, instance: string): ContainerRecords {
  const list = async (...labels: readonly string[]): Promise<readonly FoundContainer[]> => {
    const filters = JSON.stringify({ label: [`${LABELS.home}=${instance}`, ...labels] });
    const found = await engine.demand("GET", `/containers/json?all=1&filters=${encodeURIComponent(filters)}`);
    return Array.isArray(found) ? found.flatMap((entry) => readSummary(entry, instance) ?? []) : [];
  };

  return {
    list: (sessionId) => (sessionId === undefined ? list() : list(`${LABELS.session}=${sessionId}`)),
    async find({ sessionId, incarnation }) {
      const found = await list(`${LABELS.session}=${sessionId}`, `${LABELS.incarnation}=${incarnation}`);
      return found[0] ?? null;
    },
    async endOf(id) {
      const { status, body } = await engine.ask("GET", `/containers/${id}/json`);
      if (status === 404) return null;
      const state = (body as { readonly State?: { readonly ExitCode?: unknown; readonly OOMKilled?: unknown } }).State;
      return {
        code: typeof state?.ExitCode === "number" ? state.ExitCode : null,
        isOutOfMemory: state?.OOMKilled === true,
      };
    },
  };
}

/** Null for what only looks like one of ours. */
function readSummary(entry: unknown, instance: string): FoundContainer | null {
  const { Id, State, Labels } = entry as { readonly Id?: unknown; readonly State?: unknown; readonly Labels?: unknown };
  const target = targetInLabels(Labels, instance);
  if (typeof Id !== "string" || typeof State !== "string" || target === null) return null;
  return { id: Id, target, state: stateOf(State) };
}

export function targetInLabels(labels: unknown, instance: string): Target | null {
  if (typeof labels !== "object" || labels === null) return null;
  const values = labels as Readonly<Record<string, unknown>>;
  const sessionId = values[LABELS.session];
  const incarnation = values[LABELS.incarnation];
  if (values[LABELS.home] !== instance || typeof sessionId !== "string" || typeof incarnation !== "string") return null;
  if (!SESSION_ID_PATTERN.test(sessionId) || !/^[1-9]\d{0,8}$/.test(incarnation)) return null;
  return { sessionId, incarnation: Number(incarnation) };
}

/** Podman has more words for the same. */
function stateOf(word: string): ContainerState {
  switch (word.toLowerCase()) {
    case "running":
    case "restarting":
      return "running";
    case "paused":
      return "paused";
    case "created":
    case "configured":
    case "initialized":
      return "created";
    case "removing":
      return "removing";
    default:
      return "ended"; // exited, dead, stopped
  }
}
