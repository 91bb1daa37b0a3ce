/** What the engine knows of an image before a container is made from it. */
import { type EngineClient } from "./engine-client.ts";
import type { EngineFacts } from "./engine-facts.ts";
import { withoutImage, wrongArchitecture } from "./refusals.ts";

export interface Image {
  /** Changes with its content. */
  readonly id: string;
  /** The variables that it sets, as NAME=value. */
  readonly environment: readonly string[];
}

/** Throws where there is no such image, or one for other machines. */
export async function requireImage(engine: EngineClient, name: string, { architecture }: EngineFacts): Promise<Image> {
  const { status, body } = await engine.ask("GET", `/images/${encodeURIComponent(name)}/json`);
  if (status === 404 || status === 400) throw withoutImage(name);
  const image = body as {
    readonly Id?: string;
    readonly Architecture?: string;
    readonly Config?: { readonly Env?: readonly string[] | null } | null;
  };
  const its = image.Architecture ?? "";
  if (its !== "" && architecture !== "" && its !== architecture) throw wrongArchitecture(name, its, architecture);
  return { id: image.Id ?? name, environment: image.Config?.Env ?? [] };
}
