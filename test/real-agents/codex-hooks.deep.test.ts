import { describeAgent } from "./agent-suite.ts";
import { CASES } from "./rig.ts";

describeAgent(CASES.codexHooks);
