/**
 * How glibc keeps the memory of a program that rests most of the time: in one place for all threads, and without what
 * was given back. glibc reads this from the environment before the program begins, so whoever starts it says it.
 */
const SETTINGS = { MALLOC_ARENA_MAX: "1", MALLOC_TRIM_THRESHOLD_: "131072" } as const;

type Environment = Readonly<Record<string, string | undefined>>;

/** As the user has it, where that says anything of it. */
export function withAllocator<Given extends Environment>(environment: Given): Given & Environment {
  return { ...SETTINGS, ...environment };
}

/** What was meant for this process alone is no longer there for what it starts. */
export function forgetAllocator(environment: Record<string, string | undefined>): void {
  for (const [name, value] of Object.entries(SETTINGS)) if (environment[name] === value) delete environment[name];
}
