/**
 * Makes a row immutable at every depth, so that it can be shared without a
 * copy. A part that is frozen already is not walked again: unchanged parts of a
 * row are shared with the row before it.
 */
export function deepFreeze<Value>(value: Value): Value {
  if (typeof value !== "object" || value === null || Object.isFrozen(value)) return value;
  Object.freeze(value);
  for (const key in value) deepFreeze(value[key]);
  return value;
}
