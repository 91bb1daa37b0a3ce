/**
 * An agent's configuration without Reeve's entry, and otherwise the same bytes.
 * What was taken out is checked: what is left must say what it said before, less
 * that entry. Pure.
 */
import { isDeepStrictEqual } from "node:util";
import { fieldsOf } from "../../../platform/json-fields.ts";
import type { Fields } from "../../../platform/json-fields.ts";
import { MCP_SERVER_NAME } from "../../../platform/mcp-registration.ts";
import type { Registrar } from "./registrar.ts";

type Form = Pick<Registrar, "parse" | "table" | "without">;

/** Null where the entry has a form that only the agent takes apart. `ownTable`: an empty table goes, too. */
export function takenOut(form: Form, before: Buffer, ownTable: boolean): Buffer | null {
  // A letter for each byte: what is no UTF-8 stays as it is.
  const text = before.toString("latin1");
  const less = form.without(text, [form.table, MCP_SERVER_NAME]);
  const servers = less === null ? null : said(form, less)?.[form.table];
  if (less === null || servers === null) return null;
  const isBare = ownTable && Object.keys(fieldsOf(servers)).length === 0;
  const left = (isBare ? form.without(less, [form.table]) : null) ?? less;
  const now = said(form, left);
  if (now === null || MCP_SERVER_NAME in fieldsOf(now[form.table])) return null;
  const wanted = withoutEntry(form, said(form, text) ?? {});
  return isDeepStrictEqual(withoutEntry(form, now), wanted) ? Buffer.from(left, "latin1") : null;
}

function said({ parse }: Form, text: string): Fields | null {
  try {
    return parse(Buffer.from(text, "latin1").toString("utf8"));
  } catch {
    return null;
  }
}

/** An empty table and none say the same. */
function withoutEntry({ table }: Form, { [table]: servers, ...others }: Fields): Fields {
  const { [MCP_SERVER_NAME]: _, ...rest } = fieldsOf(servers);
  return Object.keys(rest).length === 0 ? others : { ...others, [table]: rest };
}
