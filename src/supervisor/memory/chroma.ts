/**
 * A Chroma server as a vector store, spoken to over its HTTP API, version 2. It
 * holds copies: what it loses is put there again, and what it finds counts only if
 * memory.db has it. Every request has a time limit.
 */
import { embed } from "../../memory/embedding.ts";
import type { Memory, MemoryFilter } from "../../memory/memory.ts";
import { messageOf } from "../../platform/reeve-error.ts";

/** A batch of a hundred takes a few milliseconds; a server that hangs is not waited for. */
const WRITE_TIMEOUT_MS = 10_000;
/** A search goes on without it. */
const QUERY_TIMEOUT_MS = 1_500;
const MOST_ANSWER_BYTES = 8_388_608;
/** Squared distance of vectors of length 1: above it they have hardly a word in common. */
const FARTHEST = 1.5;

export interface VectorStore {
  /** Makes the collection where there is none; its id is another one when the server has lost it. */
  connect(): Promise<string>;
  put(collection: string, memories: readonly Memory[]): Promise<void>;
  remove(collection: string, ids: readonly string[]): Promise<void>;
  /** Ids, the nearest first. */
  find(collection: string, text: string, filter: MemoryFilter, limit: number): Promise<readonly string[]>;
}

export function createChroma(url: string, name: string): VectorStore {
  const base = `${url.replace(/\/+$/, "")}/api/v2`;
  const collections = `${base}/tenants/default_tenant/databases/default_database/collections`;

  return {
    async connect() {
      const heartbeat = await request("GET", `${base}/heartbeat`, undefined, WRITE_TIMEOUT_MS);
      if (heartbeat.status === 404 || heartbeat.status === 410)
        throw new Error(
          `it answered ${heartbeat.status} to /api/v2/heartbeat, so it does not speak version 2 of Chroma's API; update it`,
        );
      requireSuccess(heartbeat);
      const body = { name, get_or_create: true };
      const made = requireSuccess(await request("POST", collections, body, WRITE_TIMEOUT_MS)).body;
      const id = typeof made === "object" && made !== null && "id" in made ? made.id : undefined;
      if (typeof id !== "string") throw new Error("it made no collection, so it is no Chroma server that Reeve knows");
      return id;
    },

    async put(collection, memories) {
      const body = {
        ids: memories.map(({ id }) => id),
        embeddings: memories.map(({ text, tags }) => embed([text, ...tags].join(" "))),
        documents: memories.map(({ text }) => text),
        metadatas: memories.map(({ project, role, kind, at }) => ({ project, role: role ?? "", kind, at })),
      };
      requireSuccess(await request("POST", `${collections}/${collection}/upsert`, body, WRITE_TIMEOUT_MS));
    },

    async remove(collection, ids) {
      requireSuccess(await request("POST", `${collections}/${collection}/delete`, { ids }, WRITE_TIMEOUT_MS));
    },

    async find(collection, text, filter, limit) {
      const where = whereOf(filter);
      const body = {
        query_embeddings: [embed(text)],
        n_results: limit,
        include: ["distances"],
        ...(where === null ? {} : { where }),
      };
      const answer = requireSuccess(
        await request("POST", `${collections}/${collection}/query`, body, QUERY_TIMEOUT_MS),
      );
      const { ids: [ids = []] = [], distances: [distances = []] = [] } = answer.body as {
        ids?: readonly (readonly string[])[];
        distances?: readonly (readonly number[])[];
      };
      return ids.filter((_, at) => (distances[at] ?? 0) < FARTHEST);
    },
  };
}

function whereOf({ project, role, kind }: MemoryFilter): object | null {
  const conditions = [
    ...(project === null ? [] : [{ project: { $eq: project } }]),
    ...(role === null ? [] : [{ role: { $in: ["", role] } }]),
    ...(kind === null ? [] : [{ kind: { $eq: kind } }]),
  ];
  return conditions.length > 1 ? { $and: conditions } : (conditions[0] ?? null);
}

interface Answer {
  readonly status: number;
  readonly body: unknown;
}

function requireSuccess(answer: Answer): Answer {
  if (answer.status >= 200 && answer.status < 300) return answer;
  throw new Error(`it answered ${answer.status}`);
}

/** Rejects with a sentence. No connection is kept: a server that was restarted is reached at once. */
async function request(method: string, address: string, body: unknown, timeoutMs: number): Promise<Answer> {
  const url = new URL(address);
  // Loaded when they are needed: most homes have no vector store.
  const { request: send } = url.protocol === "https:" ? await import("node:https") : await import("node:http");
  const text = body === undefined ? "" : JSON.stringify(body);
  const headers = { "content-type": "application/json", "content-length": String(Buffer.byteLength(text)) };
  return await new Promise((resolve, reject) => {
    const signal = AbortSignal.timeout(timeoutMs);
    const fail = (error: Error): void =>
      reject(
        new Error(
          signal.aborted ? `it did not answer within ${timeoutMs} ms` : `it could not be reached (${error.message})`,
        ),
      );
    const asked = send(url, { method, headers, agent: false, signal }, (response) => {
      const pieces: Buffer[] = [];
      let bytes = 0;
      response.on("error", fail);
      response.on("data", (piece: Buffer) => {
        pieces.push(piece);
        bytes += piece.length;
        if (bytes > MOST_ANSWER_BYTES) response.destroy(new Error("its answer is too long"));
      });
      response.on("end", () => {
        try {
          const said = Buffer.concat(pieces).toString("utf8");
          const status = response.statusCode ?? 0;
          resolve({ status, body: status < 300 && said !== "" ? (JSON.parse(said) as unknown) : null });
        } catch (error) {
          reject(new Error(`its answer is no JSON (${messageOf(error)})`));
        }
      });
    });
    asked.on("error", fail);
    asked.end(text);
  });
}
