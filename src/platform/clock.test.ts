import { afterEach, expect, test, vi } from "vitest";
import { systemClock } from "./clock.ts";

afterEach(() => vi.restoreAllMocks());

test("what was due already is due now, and the runtime has nothing to warn of", async () => {
  const warned = vi.spyOn(process, "emitWarning").mockImplementation(() => undefined);
  await systemClock.sleep(-5);
  await new Promise<void>((resolve) => void systemClock.after(-5, resolve));
  expect(warned).not.toHaveBeenCalled();
});
