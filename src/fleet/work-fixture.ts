/** Items of work for tests. */
import { addedWork, type NewWork, type WorkItem } from "./work.ts";

export function newWork(given: Partial<NewWork> = {}): NewWork {
  return {
    id: "work-one",
    title: "Write the parser",
    body: "It reads lines.",
    priority: 0,
    dependencies: [],
    agent: "practice",
    role: null,
    branch: null,
    cwd: "/project",
    review: "optional",
    verify: null,
    retryLimit: 2,
    createdBy: "operator",
    createdAt: 1,
    ...given,
  };
}

export function workItem(given: Partial<WorkItem> = {}): WorkItem {
  return { ...addedWork(newWork()), ...given };
}
