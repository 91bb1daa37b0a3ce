/** One line of a diagnosis: what was checked, how it stands, what to do. */
import * as z from "zod/mini";
import { stripTerminal } from "../platform/terminal-text.ts";
import type { Verdict } from "../session/diagnosis/verdict.ts";
import type { LayerFinding } from "../supervisor/diagnosis/routes.ts";
import { text, textOrNull, whenUsed } from "./field.ts";

const VERDICTS = [
  "healthy",
  "sandbox-artefact",
  "down",
  "misconfigured",
  "unknown",
] as const satisfies readonly Verdict[];

export const checkSchema = whenUsed(() =>
  z
    .object({
      what: text(
        "What was checked: a runtime, `ending`, an agent, a notification channel that fails, or the daemon; with a session or services, a layer such as `model api` or `git remote`.",
      ),
      status: z
        .enum(["ok", "missing", "warning", "problem"])
        .check(
          z.describe(
            "missing: an agent or a Docker Engine that is not there, which is fine if you do not use it. problem: fix it first.",
          ),
        ),
      detail: text("What was found."),
      advice: textOrNull("What to do about it; null where nothing needs to be done or nothing is known."),
      login: z
        .nullable(z.enum(["logged-in", "logged-out", "unknown"]))
        .check(
          z.describe(
            "Of an agent: whether you are logged in, as far as its files and variables tell. Its vendor is not asked.",
          ),
        ),
      verdict: z
        .nullable(z.enum(VERDICTS))
        .check(
          z.describe(
            "Of a layer. sandbox-artefact: it works, and only the session's sandbox or environment keeps the session from it. down: nobody reaches it. misconfigured: something answers, but not as asked. Null for what is no layer.",
          ),
        ),
      mechanism: textOrNull(
        "What is in the session's way: `network namespace`, `seccomp`, `read-only mount`, `missing variable …`; null where nothing is, or it is not known.",
      ),
      routes: z
        .array(
          z.object({
            route: z
              .enum(["native", "session", "escalated"])
              .check(
                z.describe(
                  "native: by Reeve itself. session: where the session lives, in its agent's sandbox. escalated: the same request with the session's environment, without the sandbox.",
                ),
              ),
            status: z
              .enum(["reached", "failed", "untried"])
              .check(z.describe("untried: it could not be tried that way, which says nothing about it.")),
            code: textOrNull(
              "An error of the system, `timeout`, `http <status>` or `exit <status>`; `no-node`: there is no Node in the image; null where there is none.",
            ),
            detail: text("What was found."),
          }),
        )
        .check(z.describe("What was tried, and what came of it; empty for what is no layer.")),
    })
    .register(z.globalRegistry, { id: "Check", description: "One thing that was checked." }),
);
export type Check = z.infer<typeof checkSchema>;

/** What is no layer. */
export function plainCheck(
  check: Pick<Check, "what" | "status" | "detail"> & Partial<Pick<Check, "advice" | "login" | "verdict">>,
): Check {
  return { advice: null, login: null, verdict: null, ...check, mechanism: null, routes: [] };
}

const STATUS = {
  healthy: "ok",
  "sandbox-artefact": "warning",
  down: "problem",
  misconfigured: "problem",
  unknown: "warning",
} as const satisfies Record<Verdict, Check["status"]>;

/** `isBoxed`: it is told of a session in a container. */
export function layerCheck(finding: LayerFinding, isBoxed: boolean): Check {
  const { layer, verdict, mechanism, text: said, routes } = finding;
  const word =
    verdict === "healthy" ? "" : `${verdict.replace("-", " ")}${mechanism === null ? "" : `: ${mechanism}`}. `;
  return {
    what: layer,
    status: STATUS[verdict],
    detail: stripTerminal(`${word}${verdict === "healthy" ? said.slice(layer.length + 2) : said}`),
    advice: adviceOf(finding, isBoxed),
    login: null,
    verdict,
    mechanism,
    routes: routes.map(({ route, status, code, text: detail }) => ({
      route,
      status,
      code,
      detail: stripTerminal(detail),
    })),
  };
}

function adviceOf({ verdict, layer, routes }: LayerFinding, isBoxed: boolean): string | null {
  switch (verdict) {
    case "healthy":
      return null;
    case "unknown":
      return routes.some(({ code }) => code === "no-node")
        ? "Put Node into the image, or use one of reeve image build: what is tried in the container is tried by Node."
        : null;
    case "sandbox-artefact":
      if (layer === "reeve") return "Use Reeve's MCP tools in this session; its shell cannot call Reeve.";
      return isBoxed
        ? "Nothing is wrong with it. The container was started with a network and a file system of its own (--network, --mount); do it outside of the container, or by an MCP tool."
        : "Nothing is wrong with it. Have the command run outside the sandbox, or do it by an MCP tool.";
    case "down":
      return "Start it, or wait until it is back; then run this again.";
    case "misconfigured":
      return "Compare its address, version and log-in with what the session uses.";
  }
}
