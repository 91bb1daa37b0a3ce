import { testWorkLoad } from "./work-load-suite.ts";

testWorkLoad({ items: 50, workers: 4, kills: 2 });
