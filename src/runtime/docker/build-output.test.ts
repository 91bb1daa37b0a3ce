import { describe, expect, it } from "vitest";
import type { BuildProgress } from "../images.ts";
import { createBuildOutput } from "./build-output.ts";

function read(lines: readonly unknown[], values: Readonly<Record<string, string>> = {}) {
  const told: BuildProgress[] = [];
  const output = createBuildOutput((progress) => told.push(progress), values);
  for (const line of lines) output.take(line);
  return { told, imageId: output.imageId(), failure: output.failure() };
}

describe("what the engine's builder says (Docker Engine 20.10)", () => {
  it("is told as steps and lines, without ids of layers, with the values of arguments", () => {
    const lines = [
      { stream: "Step 1/2 : FROM ${BASE}\n" },
      { status: "Downloading", progressDetail: {}, progress: "[=>  ] 1MB/3MB", id: "a1b2" },
      { stream: " ---> 0123456789ab\n" },
      { stream: 'Step 2/2 : RUN install codex "${CODEX_VERSION}" ${OTHER}\n' },
      { stream: " ---> Running in 0123456789ab\n" },
      { stream: "10%\r60%\r100%\r\nadded \u001b[32m1 package\u001b[0m\n\n" },
      { stream: "Removing intermediate container 0123456789ab\n" },
      { aux: { ID: "sha256:abc" } },
      { stream: "Successfully built abc\n" },
    ];
    expect(read(lines, { BASE: "node:22", CODEX_VERSION: "1.2.3" })).toEqual({
      told: [
        { kind: "step", step: 1, steps: 2, text: "FROM node:22" },
        { kind: "download", text: "a1b2 Downloading [=>  ] 1MB/3MB" },
        { kind: "step", step: 2, steps: 2, text: "RUN install codex 1.2.3 ${OTHER}" },
        { kind: "output", text: "100%" },
        { kind: "output", text: "added 1 package" },
      ],
      imageId: "sha256:abc",
      failure: null,
    });
  });

  it("names the step that failed, with the last lines of that step only", () => {
    const printed = Array.from({ length: 30 }, (_, index) => ({ stream: `line ${index}\n` }));
    const { failure } = read([
      { stream: "Step 1/2 : RUN first\n" },
      { stream: "of the first\n" },
      { stream: "Step 2/2 : RUN second\n" },
      ...printed,
      { errorDetail: { code: 1 }, error: "The command 'second' returned a non-zero code: 1" },
    ]);
    expect(failure).toEqual({
      reason: "The command 'second' returned a non-zero code: 1",
      step: "RUN second",
      lines: Array.from({ length: 20 }, (_, index) => `line ${index + 10}`),
    });
  });

  it("reads Podman's words, too (as its source has them)", () => {
    const lines = [
      { stream: "STEP 1/1: FROM node:22\n" },
      { stream: "--> 0123456789ab\n" },
      { stream: "Successfully built 0123456789ab\n" },
    ];
    expect(read(lines)).toEqual({
      told: [{ kind: "step", step: 1, steps: 1, text: "FROM node:22" }],
      imageId: "0123456789ab",
      failure: null,
    });
  });

  it("does without what is no object", () => {
    expect(read(["", null, 5, { stream: 7, aux: "x" }])).toEqual({ told: [], imageId: null, failure: null });
  });
});
