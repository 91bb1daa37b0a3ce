/** A port on loopback in a box without a network that is served by a unix socket of this machine. */
import { ReeveError } from "../platform/reeve-error.ts";

export interface Passage {
  /** A directory of this machine that holds the socket and nothing else. The box sees it and cannot change it. */
  readonly directory: string;
  /** The socket's name in it. It may come and go: whoever listens there is started again. */
  readonly socket: string;
  /** On 127.0.0.1 inside. */
  readonly port: number;
}

/** Programs that can carry a passage inside, the one that needs least memory first. A box must have one of them. */
export const CARRIERS = ["perl", "python3", "socat", "node"] as const;
export type Carrier = (typeof CARRIERS)[number];

export function imageWithoutCarrier(image: string): ReeveError {
  return new ReeveError({
    code: "image-without-carrier",
    kind: "usage",
    message: `The image ${image} has none of ${CARRIERS.join(", ")}, one of which passes requests on to Reeve's proxy; install one in it, or use an image that reeve image build made.`,
  });
}
