/** One thing that `reeve init` changes for the user, and takes back with --undo. Looking at it changes nothing. */
export interface Step {
  /** absent: not there. ours: as init makes it. theirs: something else is in its place, which stays. */
  readonly state: "absent" | "ours" | "theirs";
  /** What is done to make it, and to take it back: a line each. */
  readonly doing: string;
  readonly undoing: string;
  /** What to say of something else in its place. */
  readonly theirs: string;
  /** Of `theirs`: nothing can be done before somebody makes room. */
  readonly isNeeded: boolean;
  make(): Promise<void>;
  takeBack(): Promise<void>;
}
