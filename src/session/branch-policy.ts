/** What Reeve does when another branch is checked out than a session declared; as words, for code that does not need the record. */
export const BRANCH_POLICIES = ["warn", "pause", "error"] as const;
export type BranchPolicy = (typeof BRANCH_POLICIES)[number];
