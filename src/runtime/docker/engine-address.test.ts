import { createHash } from "node:crypto";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { engineAddress } from "./engine-address.ts";

let home: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "reeve-docker-"));
  const meta = join(home, ".docker", "contexts", "meta", createHash("sha256").update("far").digest("hex"));
  mkdirSync(meta, { recursive: true });
  writeFileSync(join(meta, "meta.json"), JSON.stringify({ Endpoints: { docker: { Host: "tcp://far:2375" } } }));
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

describe("where the engine is", () => {
  it("is what the settings say, then DOCKER_HOST, then the context that is chosen", () => {
    const environment = { HOME: home, DOCKER_HOST: "unix:///by/variable", DOCKER_CONTEXT: "far" };
    expect(engineAddress("unix:///by/setting", environment)).toMatchObject({ socketPath: "/by/setting" });
    expect(engineAddress(null, environment)).toMatchObject({ socketPath: "/by/variable", from: "DOCKER_HOST" });
    expect(engineAddress(null, { HOME: home, DOCKER_CONTEXT: "far" })).toEqual({
      from: "the Docker context far",
      url: "tcp://far:2375",
      host: "far",
      port: 2375,
      tls: null,
    });
    writeFileSync(join(home, ".docker", "config.json"), '{"currentContext":"far"}');
    expect(engineAddress(null, { HOME: home })).toMatchObject({ host: "far" });
    writeFileSync(join(home, ".docker", "config.json"), "{ not JSON");
    expect(engineAddress(null, { HOME: home })).toMatchObject({ from: "the usual place" });
  });

  it("has certificates where TLS is asked for, and refuses what it cannot reach", () => {
    expect(engineAddress("tcp://[::1]:2376", { HOME: home, DOCKER_TLS_VERIFY: "1" })).toMatchObject({
      host: "::1",
      port: 2376,
      tls: { ca: undefined, rejectUnauthorized: true },
    });
    expect(() => engineAddress("ssh://me@far", {})).toThrow(/unix:\/\/\/path\/of\/its.sock or tcp:\/\/host:port/);
  });
});
