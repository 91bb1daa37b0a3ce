import { expect, test } from "vitest";
import { containerSpec } from "./container-spec.ts";

const container = {
  image: "x",
  memoryBytes: null,
  cpus: null,
  pids: null,
  network: "none" as const,
  mounts: [],
  role: "worker",
  shared: [],
};
const parts = { instance: "home", user: "1000:1000", owner: "1000" };

test.each([
  ["/work", ["/run/reeve", "/tmp"]],
  ["/tmp", ["/run/reeve"]],
])("a session that works in %s has these file systems of its own: %j", (cwd, own) => {
  const request = {
    sessionId: "one",
    incarnation: 1,
    argv: ["sh"],
    cwd,
    environment: {},
    extraEnvironment: {},
    label: "one",
  };
  const { HostConfig } = containerSpec(request, container, parts) as {
    readonly HostConfig: { readonly Tmpfs: object; readonly Mounts: readonly { readonly Target: string }[] };
  };
  // The engine refuses two things at one place.
  expect(Object.keys(HostConfig.Tmpfs).toSorted()).toEqual(own);
  expect(HostConfig.Mounts.map(({ Target }) => Target)).toEqual([cwd]);
});
