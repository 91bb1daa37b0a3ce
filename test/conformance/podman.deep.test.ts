/** The shared suite over Podman's socket that speaks as a Docker Engine does. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { DockerEngine } from "../support/docker-engine.ts";
import { podmanImpediment, startPodmanEngine } from "../support/podman-engine.ts";
import { makeDockerFixture } from "./docker-fixture.ts";
import { describeRuntime } from "./runtime.ts";

/** Podman takes a second or two for each start; all of it takes four minutes. */
const SHORT = {
  names: [
    "creates once per incarnation",
    "keeps the environment for the next incarnation, and only that",
    "suspends and releases the whole tree",
    "types steps in order, and brackets pastes only where asked",
  ],
  why: "only with REEVE_TEST_PODMAN=1",
};
const SKIPS = {
  "tells that all stand still while they are suspended, and has nothing to tell of what is gone":
    "Podman lists no processes of a container that is paused",
};
const isLong = process.env["REEVE_TEST_PODMAN"] === "1";
const impediment = podmanImpediment();

describe.skipIf(impediment !== null)(`Podman${impediment === null ? "" : ` (skipped: ${impediment})`}`, () => {
  let engine: DockerEngine;
  beforeAll(async () => {
    engine = await startPodmanEngine();
  }, 120_000);
  afterAll(() => engine.dispose(), 60_000);

  const options = { timeout: 120_000, skips: SKIPS, ...(isLong ? {} : { only: SHORT }) };
  describeRuntime("Podman", () => makeDockerFixture(engine), options);

  it("is told apart, with what it cannot do", async () => {
    const fixture = await makeDockerFixture(engine);
    try {
      const said = await fixture.runtime.requireReady();
      expect(said).toMatch(/^Podman \d+\.\d+.* at unix:/);
      expect(said).toContain("live-restore is not needed");
      expect(said).toContain("it cannot list the processes of a suspended session");
    } finally {
      await fixture.dispose();
    }
  });
});
