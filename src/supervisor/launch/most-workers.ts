import type { MostWorkers } from "../../fleet/work-limits.ts";
import type { RoleOptions, Tables } from "./settings.ts";

/** The limits of workers that the settings name. */
export function mostWorkers({ work, agents, roles }: Tables): MostWorkers {
  const said = (all: Readonly<Record<string, Pick<RoleOptions, "mostWorkers">>>): Record<string, number> =>
    Object.fromEntries(
      Object.entries(all).flatMap(([name, { mostWorkers: most }]) => (most === null ? [] : [[name, most]])),
    );
  return { machine: work.mostWorkers, byAgent: said(agents), byRole: said(roles) };
}
