/**
 * Takes secrets out of mail before it is recorded: those of the sender's and of
 * the recipient's session, and what has the shape of one. Unlike a message,
 * which is typed with the secret put back in, mail is read from the record, so
 * a secret is gone for good.
 */
import { redact } from "../../capture/redaction.ts";
import type { NewMail } from "../../fleet/mail.ts";
import type { Registry } from "../../store/contract.ts";
import { secretsOfLaunch } from "../launch/environment.ts";
import type { Post } from "../ledger/post.ts";
import type { SessionSecrets } from "./session-secrets.ts";

export interface SecretSources {
  readonly secrets: Pick<SessionSecrets, "learn">;
  readonly registry: Pick<Registry, "get">;
}

/** The values of its secrets, as far as they are known; of what is no session, none. */
export async function secretsOfSession(sessionId: string, sources: SecretSources): Promise<readonly string[]> {
  const session = sources.registry.get(sessionId);
  if (session === undefined) return [];
  // Of a process that cannot be asked, its env file is still known.
  const secrets = (await sources.secrets.learn(sessionId)) ?? secretsOfLaunch(session.identity.launch, {});
  return secrets.map(({ value }) => value);
}

export function redactingPost(post: Post, sources: SecretSources): Post {
  async function redacted(mail: NewMail): Promise<NewMail> {
    const sender = mail.from.caller.replace(/^session:/, "");
    const secrets = (await Promise.all([sender, mail.to].map((id) => secretsOfSession(id, sources)))).flat();
    return { ...mail, subject: redact(mail.subject, secrets), body: redact(mail.body, secrets) };
  }

  return { ...post, send: async (mails, wish) => post.send(await Promise.all(mails.map(redacted)), wish) };
}
