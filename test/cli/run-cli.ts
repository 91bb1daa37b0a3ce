/** Runs the CLI from its source, as bin/reeve runs what was built: `node run-cli.ts <words>`. */
import { join } from "node:path";
import { main } from "../../src/surface/cli/main.ts";

main(process.argv.slice(2), {
  root: join(import.meta.dirname, "..", ".."),
  program: join(import.meta.dirname, "..", "..", "bin", "reeve"),
}).then(
  (status) => process.exit(status),
  () => process.exit(99),
);
