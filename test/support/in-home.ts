/** A home for one test alone, so that tests which mostly wait can do so side by side. */
import type { TestHome } from "./test-home.ts";
import { createTestHome } from "./test-home.ts";

export async function inHome(toml: string, act: (home: TestHome) => Promise<void>): Promise<void> {
  const home = createTestHome();
  try {
    home.configure(toml);
    await act(home);
  } finally {
    await home.dispose();
  }
}
