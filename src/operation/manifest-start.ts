/** What a manifest says of a session, as the request that starts it. */
import * as z from "zod/mini";
import { recordedSpec } from "../fleet/manifest-plan.ts";
import type { ManifestSession } from "../fleet/manifest.ts";
import { whenUsed } from "./field.ts";
import { startSession } from "./start-session.ts";

/** The fields of a start that a manifest decides; the rest is the caller's. */
export const manifestStart = whenUsed(() =>
  z.pick(startSession.input, {
    agent: true,
    args: true,
    prompt: true,
    name: true,
    role: true,
    cwd: true,
    branch: true,
    branch_policy: true,
    allow_shared_checkout: true,
    worktree: true,
    base: true,
    fetch: true,
    runtime: true,
    image: true,
    memory: true,
    cpus: true,
    pids: true,
    network: true,
    mounts: true,
    model: true,
    mcp: true,
    restart: true,
    env_file: true,
    key_files: true,
    timeouts: true,
    persist_session: true,
    capture: true,
    debug_log: true,
    manifest: true,
  }),
);

/** What an item of work would say otherwise, the manifest always does. */
export type ManifestStart = z.infer<typeof manifestStart> & { readonly agent: string; readonly cwd: string };

export function startOf({ id, order, spec }: ManifestSession, file: string): ManifestStart {
  const { agent, branch, workspace, role = "agent" } = spec;
  return {
    agent,
    args: [...(spec.command ?? spec.args ?? [])],
    prompt: spec.prompt,
    name: id,
    role,
    cwd: workspace,
    branch,
    branch_policy: spec.branch_policy,
    allow_shared_checkout: spec.allow_shared_checkout ?? false,
    worktree: spec.worktree ?? false,
    base: spec.base,
    fetch: spec.fetch,
    runtime: spec.runtime,
    image: spec.image,
    memory: spec.resources?.memory,
    cpus: spec.resources?.cpus,
    pids: spec.resources?.pids,
    network: spec.network,
    mounts: spec.mounts === undefined ? undefined : [...spec.mounts],
    model: spec.model,
    mcp: spec.mcp ?? true,
    restart: spec.restart,
    env_file: spec.env_file,
    key_files: { ...spec.key_file },
    timeouts: spec.timeouts,
    persist_session: spec.persist_session,
    capture: spec.capture,
    debug_log: spec.debug_log,
    manifest: { file, id, order, spec: recordedSpec(spec) },
  };
}
