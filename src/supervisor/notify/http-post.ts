/**
 * Sends one request and looks at the status of the answer. The body of the
 * answer is not read, redirects are not followed, and no connection is kept.
 */
export interface HttpPost {
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Resolves with what was answered, where that is a success; rejects with a sentence otherwise. */
export async function httpPost({ url, headers, body }: HttpPost, signal: AbortSignal): Promise<string> {
  // Loaded when they are needed: they take time and memory that nothing else in the daemon needs.
  const { request: send } = url.protocol === "https:" ? await import("node:https") : await import("node:http");
  const length = String(Buffer.byteLength(body));
  return await new Promise((resolve, reject) => {
    const request = send(
      url,
      { method: "POST", headers: { ...headers, "content-length": length }, agent: false, signal },
      (response) => {
        const status = response.statusCode ?? 0;
        response.on("error", () => undefined);
        response.destroy();
        if (status >= 200 && status < 300) resolve(`it answered ${status}`);
        else reject(new Error(refusal(status)));
      },
    );
    request.on("error", (error) => reject(new Error(`it could not be reached (${error.message})`)));
    request.end(body);
  });
}

function refusal(status: number): string {
  return status >= 300 && status < 400
    ? `it answered ${status}, a redirect, which Reeve does not follow; use the address that it leads to`
    : `it answered ${status}`;
}
