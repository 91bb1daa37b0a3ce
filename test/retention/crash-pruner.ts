/**
 * For tests only, run as a process to be killed: prunes the home given as its
 * argument, in which everything that ended goes.
 */
import { EVERYTHING, makePrunerGround } from "./pruner-fixture.ts";

const [, , directory = ""] = process.argv;
const ground = await makePrunerGround({ directory });
await ground.pruner.recover();
await ground.prune(EVERYTHING);
await ground.store.close();
process.exit(0);
