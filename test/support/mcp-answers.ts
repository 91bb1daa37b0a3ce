/** What the tests read of the answers of MCP tools. */
export interface Started {
  readonly session_id: string;
  readonly cursor: number;
}

export interface Waited {
  readonly done: boolean;
  readonly reason: string;
  readonly cursor: number;
  readonly woken: readonly {
    readonly name: string;
    readonly reason: string;
    readonly reply: { readonly text: string; readonly truncated: boolean } | null;
  }[];
  readonly asleep: readonly string[];
}

export interface Listed {
  readonly sessions: readonly { readonly name: string; readonly state: string }[];
}
