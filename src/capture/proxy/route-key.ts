/** Keys of routes: whoever knows one may use its upstreams. */
import { randomBytes } from "node:crypto";

const KEY = /^[A-Za-z0-9_-]{43}$/;

export function newRouteKey(): string {
  return randomBytes(32).toString("base64url");
}

export function isRouteKey(text: string): boolean {
  return KEY.test(text);
}
