/** The shared suite over a real Docker Engine. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { containerName, LABELS } from "../../src/runtime/docker/container-record.ts";
import { type DockerEngine, engineImpediment, startDockerEngine } from "../support/docker-engine.ts";
import { eventually } from "../support/eventually.ts";
import { SESSION_IMAGE } from "../support/session-image.ts";
import { makeDockerFixture } from "./docker-fixture.ts";
import { describeRuntime } from "./runtime.ts";
import { first, second, useGround } from "./runtime-ground.ts";

const impediment = engineImpediment();

describe.skipIf(impediment !== null)(`Docker${impediment === null ? "" : ` (skipped: ${impediment})`}`, () => {
  let engine: DockerEngine;
  beforeAll(async () => {
    engine = await startDockerEngine({ liveRestore: true });
  }, 120_000);
  afterAll(() => engine.dispose(), 60_000);

  describeRuntime("Docker", () => makeDockerFixture(engine), { timeout: 60_000 });

  describe("what a killed engine left", () => {
    const ground = useGround(() => makeDockerFixture(engine));

    test("a dead container goes when its session has another", { timeout: 60_000 }, async () => {
      const { instance, containers } = ground.fixture;
      const { place } = await ground.runtime.create(ground.shell(second, "read x"));
      const Labels = { [LABELS.home]: instance, [LABELS.session]: first.sessionId, [LABELS.incarnation]: "1" };
      const name = containerName(instance, first);
      await engine.call("POST", `/containers/create?name=${name}`, { Image: SESSION_IMAGE, Cmd: ["true"], Labels });
      await engine.call("POST", `/containers/${name}/start`);
      await eventually("it has ended", async () => (await ground.runtime.observe(first)).status === "exited");
      expect(await containers()).toHaveLength(2);
      await eventually("it is removed", async () => {
        const listing = await ground.runtime.list();
        expect(listing).toMatchObject({ reachable: true });
        return (await containers()).length === 1;
      });
      expect(await containers()).toEqual([place["container"]]);
      expect(await ground.runtime.observe(second)).toMatchObject({ status: "running" });
    });
  });
});
