/** One process of a session as it is at one moment, as its runtime tells it. */
export interface ProcessVitals {
  /** Names it beyond doubt among the processes of its session. */
  readonly id: string;
  /** For people: "process 4242". */
  readonly text: string;
  /** stopped: by a signal, or frozen. stuck: it waits inside the kernel, and no signal reaches it. */
  readonly state: "able" | "stuck" | "stopped";
  /** It has the session's terminal: part of the agent itself rather than a tool that the agent runs. */
  readonly isForeground: boolean;
  readonly cpuMs: number;
  /** Of its children that have ended, and theirs. */
  readonly endedCpuMs: number;
}
