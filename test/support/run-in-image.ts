/** What a shell prints in a container of an image, run as a session would be: any user, a read-only root, no capabilities. */
import type { DockerEngine } from "./docker-engine.ts";
import { eventually } from "./eventually.ts";

export async function runInImage(engine: DockerEngine, image: string, script: string): Promise<readonly string[]> {
  const made = await engine.call("POST", "/containers/create", {
    Image: image,
    User: "4711:4711",
    Cmd: ["sh", "-c", script],
    Env: ["HOME=/run/session", "TMPDIR=/run/session"],
    // One stream without headers in it.
    Tty: true,
    HostConfig: {
      ReadonlyRootfs: true,
      NetworkMode: "host",
      CapDrop: ["ALL"],
      SecurityOpt: ["no-new-privileges"],
      Tmpfs: { "/run/session": "mode=0777,exec" },
    },
  });
  const { Id: id } = made.body as { readonly Id: string };
  try {
    await engine.call("POST", `/containers/${id}/start`);
    await eventually(
      "its program has ended",
      async () => {
        const { body } = await engine.call("GET", `/containers/${id}/json`);
        return !(body as { readonly State: { readonly Running: boolean } }).State.Running;
      },
      300_000,
    );
    const log = String((await engine.call("GET", `/containers/${id}/logs?stdout=1&stderr=1`)).body);
    return log.split(/\r?\n/).filter((line) => line !== "");
  } finally {
    await engine.call("DELETE", `/containers/${id}?force=1&v=1`);
  }
}
