import { describeLife } from "./life-suite.ts";
import { CASES } from "./rig.ts";

describeLife(CASES.gemini);
