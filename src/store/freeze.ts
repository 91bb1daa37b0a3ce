/**
 * Makes a row immutable through and through, so that it can be handed to
 * everybody without a copy. A frozen part is taken to be frozen below as well:
 * unchanged parts of a row are shared with the row before it.
 */
export function deepFreeze<Value>(value: Value): Value {
  if (typeof value !== "object" || value === null || Object.isFrozen(value)) return value;
  Object.freeze(value);
  for (const key in value) deepFreeze(value[key]);
  return value;
}
