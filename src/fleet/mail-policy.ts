/** Who may send mail to whom, as the setting `mail` says. It binds sessions; the operator may write to all. */
export const MAIL_POLICIES = ["any", "family", "operator"] as const;

export type MailPolicy = (typeof MAIL_POLICIES)[number];

/** For whoever is refused. */
export const POLICY_WORDS = {
  any: "a session may send mail to every session and to the operator",
  family:
    'with mail = "family" in config.toml a session may send mail to the sessions of its own family (those with the same first ancestor) and to the operator',
  operator: 'with mail = "operator" in config.toml a session may send mail to the operator only',
} as const satisfies Record<MailPolicy, string>;

/** Ids of the first sessions of two families: who started whom leads there. */
export function mayMailSession(
  policy: MailPolicy,
  families: { readonly sender: string; readonly recipient: string },
): boolean {
  switch (policy) {
    case "any":
      return true;
    case "family":
      return families.sender === families.recipient;
    case "operator":
      return false;
  }
}
