import { testWorkLoad } from "./work-load-suite.ts";

testWorkLoad({ items: 1_000, workers: 10, kills: 20 });
