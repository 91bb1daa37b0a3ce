/** What keeps a container from being made, said so that somebody can do something about it. */
import { ReeveError } from "../../platform/reeve-error.ts";

export function withoutImage(image: string | null): ReeveError {
  if (image === null)
    return new ReeveError({
      code: "image-not-named",
      kind: "usage",
      message:
        "A session in a container needs an image: make one with reeve image build, and name it with --image or as image in [docker] of config.toml.",
    });
  return new ReeveError({
    code: "image-missing",
    kind: "usage",
    message: `The Docker Engine has no image ${image}; get it with docker pull ${image}, or check the name.`,
  });
}

export function imageWithoutTmux(image: string): ReeveError {
  return new ReeveError({
    code: "image-without-tmux",
    kind: "usage",
    message: `The image ${image} has no tmux, in which Reeve runs a session; install tmux 3.2 or newer in it.`,
  });
}

export function wrongArchitecture(image: string, its: string, engines: string): ReeveError {
  return new ReeveError({
    code: "image-wrong-architecture",
    kind: "usage",
    message: `The image ${image} is for ${its}, and this Docker Engine runs ${engines}; get the image for ${engines}.`,
  });
}

export function nameTaken(name: string): ReeveError {
  return new ReeveError({
    code: "container-name-taken",
    kind: "conflict",
    message: `There is a container ${name} that Reeve did not make; rename or remove it, then restart the session.`,
  });
}

/** What the engine said about a container that it would not make or start; by its words, since it has no codes for them. */
export function notMade(error: unknown, image = "of the session"): unknown {
  if (!(error instanceof ReeveError) || error.code !== "engine-refused") return error;
  const reason = String(error.details["reason"]);
  const [, source] = /bind source path does not exist: (\S+)/.exec(reason) ?? [];
  if (source !== undefined)
    return refusal("mount-source-missing", `There is no ${source} to mount; check the mounts of the session.`);
  if (/exec format error/.test(reason))
    return refusal("image-wrong-architecture", `The image ${image} is for another processor than this engine's.`);
  if (/"?\/bin\/sh"?.*(no such file|not found)/.test(reason))
    return refusal("image-without-shell", `The image ${image} has no /bin/sh; use one that has a shell and tmux.`);
  if (/container-init binary not found/.test(reason))
    return refusal("engine-without-init", "Podman has no first process for a container; install catatonit.");
  if (/[Mm]inimum memory limit|memory limit/.test(reason))
    return refusal("limits-too-low", `The engine does not start a container with so little memory: ${reason}.`);
  return error;
}

function refusal(code: string, message: string): ReeveError {
  return new ReeveError({ code, kind: "usage", message });
}
