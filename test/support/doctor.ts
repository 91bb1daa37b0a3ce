/** What `reeve doctor` says, by layer. */
import type { TestHome } from "./test-home.ts";

export interface Layer {
  readonly what: string;
  readonly status: string;
  readonly detail: string;
  readonly advice: string | null;
  readonly verdict: string | null;
  readonly mechanism: string | null;
  readonly routes: readonly { readonly route: string; readonly status: string; readonly code: string | null }[];
}

export async function doctor(home: TestHome, ...args: readonly string[]): Promise<(what: string) => Layer> {
  const { stdout, stderr } = await home.run(["doctor", ...args, "--json"]);
  const { checks } = JSON.parse(stdout) as { checks: readonly Layer[] };
  return (what) => {
    const found = checks.find((check) => check.what === what);
    if (found === undefined) throw new Error(`doctor says nothing of ${what}: ${stdout}${stderr}`);
    return found;
  };
}

/** Verdict and mechanism, as a person would read them. */
export function verdictOf({ verdict, mechanism }: Layer): string {
  return mechanism === null ? String(verdict) : `${verdict}: ${mechanism}`;
}

export function statusesOf({ routes }: Layer): Readonly<Record<string, string>> {
  return Object.fromEntries(routes.map(({ route, status }) => [route, status]));
}
