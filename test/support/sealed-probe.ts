/** Reaches for the machine, as no adapter may: the tests of the seal load it, and must not succeed. */
import { existsSync } from "node:fs";

export const isThere = existsSync("/");
