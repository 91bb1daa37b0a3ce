/** What agents keep for their user, read for a plan or a log-in where the session is to live. */
import type { SessionFiles } from "../../runtime/session-files.ts";

/** Larger ones are not what an agent keeps its settings in. */
const LARGEST_FILE_BYTES = 1_048_576;

/**
 * Does something pure that wants to read files where the session is to live. An agent reads as if they were at hand, so
 * it is asked with what has been read so far, and again when what it missed is here.
 */
export async function withFiles<T>(
  files: Pick<SessionFiles, "read">,
  work: (read: (path: string) => string | null) => T,
  mostBytes = LARGEST_FILE_BYTES,
): Promise<T> {
  const known = new Map<string, string | null>();
  for (;;) {
    const missed = new Set<string>();
    const attempt = attempted(() =>
      work((path) => {
        if (!known.has(path)) missed.add(path);
        return known.get(path) ?? null;
      }),
    );
    if (missed.size === 0) return attempt();
    const read = async (path: string): Promise<void> => void known.set(path, await files.read(path, { mostBytes }));
    await Promise.all([...missed].map(read));
  }
}

function attempted<T>(work: () => T): () => T {
  try {
    const result = work();
    return () => result;
  } catch (error) {
    return () => {
      throw error;
    };
  }
}
