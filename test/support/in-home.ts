/** A home for one test alone, so that tests which mostly wait can do so side by side. */
import type { TestHome } from "./test-home.ts";
import { createTestHome } from "./test-home.ts";

export async function inHome(toml: string, act: (home: TestHome) => Promise<void>): Promise<void> {
  const home = createTestHome();
  let failure: unknown;
  try {
    home.configure(toml);
    await act(home);
  } catch (error) {
    failure = error;
  }
  // What a test that failed left behind is not what is wrong with it.
  await home.dispose().catch((error: unknown) => {
    failure ??= error;
  });
  if (failure !== undefined) throw failure;
}
