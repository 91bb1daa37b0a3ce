/**
 * Follows what the engine tells of this home's containers. It is told only as a
 * hint: whoever hears it asks. While it could not be followed anything may have
 * happened, so each new beginning is a hint about all of them.
 */
import type { Clock } from "../../platform/clock.ts";
import type { Target } from "../contract.ts";
import { LABELS, targetInLabels } from "./container-record.ts";
import type { EngineClient } from "./engine-client.ts";

export interface EngineEvents {
  /** From now on, until it is closed. */
  begin(): void;
  /** Since it was begun, the engine has been the same. */
  isHeard(): boolean;
  close(): void;
}

/** Docker's words and Podman's. */
const KINDS = ["die", "died", "oom", "pause", "unpause", "destroy", "remove"];
/** Quick at first. Then once a second: that costs nothing, and an engine that is restarted is heard again soon. */
const FIRST_RETRY_MS = 250;
const LONGEST_RETRY_MS = 1_000;

export function createEngineEvents(parts: {
  readonly engine: EngineClient;
  readonly instance: string;
  readonly clock: Clock;
  readonly tell: (target: Target | null) => void;
  readonly onBegun: () => void;
  readonly log: (message: string, fields?: object) => void;
}): EngineEvents {
  const { engine, instance, clock, tell, log } = parts;
  const filters = JSON.stringify({ type: ["container"], event: KINDS, label: [`${LABELS.home}=${instance}`] });
  let stop: (() => void) | null = null;
  let cancelRetry: (() => void) | null = null;
  let retryMs = FIRST_RETRY_MS;
  let isHeard = false;
  let isClosed = false;

  const follow = (): void => {
    const startedAt = clock.monotonic();
    stop = engine.follow(`/events?filters=${encodeURIComponent(filters)}`, {
      onBegun() {
        isHeard = true;
        parts.onBegun();
        tell(null);
      },
      onLine(line) {
        const attributes = (line as { readonly Actor?: { readonly Attributes?: unknown } }).Actor?.Attributes;
        tell(targetInLabels(attributes, instance));
      },
      onOver(why) {
        isHeard = false;
        if (isClosed) return;
        if (clock.monotonic() - startedAt > LONGEST_RETRY_MS) retryMs = FIRST_RETRY_MS;
        // Not for each try: it may be away for days.
        if (retryMs === FIRST_RETRY_MS) {
          log("the engine's events are not heard", { why });
          tell(null);
        }
        cancelRetry = clock.after(retryMs, follow);
        retryMs = Math.min(LONGEST_RETRY_MS, retryMs * 2);
      },
    });
  };

  return {
    begin() {
      if (stop === null && !isClosed) follow();
    },
    isHeard: () => isHeard,
    close() {
      isClosed = true;
      cancelRetry?.();
      stop?.();
    },
  };
}
