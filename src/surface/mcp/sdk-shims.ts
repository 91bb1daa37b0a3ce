/**
 * Stands in for a part of the MCP SDK in the bundles (script/build.ts): a
 * validator of JSON schemas, for answers to questions that a server asks its
 * client. This server asks none, and each agent has a process of its own.
 */
export { default as process } from "node:process";

export class DefaultJsonSchemaValidator {
  getValidator(): never {
    throw new Error("This server asks its client nothing, so there is no answer to check.");
  }
}
