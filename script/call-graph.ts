/**
 * Who calls whom, over all files of src/ without the tests: read from the
 * syntax, without a type checker, so that it also works on an older commit.
 *
 * A node is a named function, `file#name`: a declaration, a constant or a
 * property that holds one, a method. A function without a name belongs to the
 * one around it. An edge is a mention of:
 *
 *  - a function of the same file, or one that is imported;
 *  - a member `x.name`, where x has, by its annotation, by what made it
 *    (`createX(…): X`) or by the member of an interface with that name, a type
 *    with such a member. Then all who provide it are meant: the files with a
 *    function that returns the type, a value or class of it, or that call a
 *    function which takes one (a bag of parts is provided where it is filled).
 */
import { sourceFiles } from "./source-imports.ts";
import { type Member, push, readSource, type SourceFile, type TypeName } from "./source-syntax.ts";

/** From `file#function` to those that it mentions. */
export type CallGraph = ReadonlyMap<string, ReadonlySet<string>>;

export interface Program {
  readonly files: ReadonlyMap<string, SourceFile>;
  readonly calls: CallGraph;
}

export function readProgram(root: string): Program {
  const files = new Map<string, SourceFile>();
  for (const file of sourceFiles(root)) files.set(file, readSource(root, file));
  return { files, calls: link(files) };
}

function link(files: ReadonlyMap<string, SourceFile>): CallGraph {
  const membersByName = new Map<string, TypeName[]>();
  const providers = new Map<string, Set<string>>();
  const takers = new Map<string, TypeName[]>();
  for (const [file, source] of files) {
    for (const shape of source.shapes.values())
      for (const [name, { types }] of shape.members) for (const type of types) push(membersByName, name, type);
    for (const [name, types] of source.fields) for (const type of types) push(membersByName, name, type);
    for (const type of source.provides.values()) provideAll(type, file);
    for (const [name, types] of source.takes) takers.set(`${file}#${name}`, types);
  }
  // Whoever names a function that takes a type may fill one in.
  for (const [file, source] of files)
    for (const { file: from, name } of source.imports.values())
      for (const type of takers.get(`${from}#${name}`) ?? []) provideAll(type, file);

  const calls = new Map<string, Set<string>>();
  for (const [file, source] of files)
    for (const mention of source.mentions)
      for (const target of "name" in mention ? named(source, file, mention.name) : viaMember(file, source, mention))
        addTo(calls, `${file}#${mention.from}`, target);
  return calls;

  /** What is of a type is of its bases too. */
  function provideAll({ file: declared, name }: TypeName, by: string): void {
    addTo(providers, `${declared}#${name}`, by);
    for (const base of files.get(declared)?.shapes.get(name)?.bases ?? []) provideAll(base, by);
  }

  function named(source: SourceFile, file: string, name: string): readonly string[] {
    const imported = source.imports.get(name);
    if (imported !== undefined)
      return files.get(imported.file)?.functions.has(imported.name) === true
        ? [`${imported.file}#${imported.name}`]
        : [];
    return source.functions.has(name) ? [`${file}#${name}`] : [];
  }

  function viaMember(
    file: string,
    source: SourceFile,
    { member, of }: { readonly member: string; readonly of: string },
  ) {
    return typesOf(file, source, of)
      .filter((type) => holds(type, member))
      .flatMap((type) => [type, ...basesWith(type, member)])
      .flatMap(({ file: declared, name }) => [...(providers.get(`${declared}#${name}`) ?? []), declared])
      .filter((provider) => files.get(provider)?.members.has(member) === true)
      .map((provider) => `${provider}#${member}`);
  }

  /** What a type has from a base is provided by whoever provides that base. */
  function basesWith({ file, name }: TypeName, member: string): readonly TypeName[] {
    const bases = (files.get(file)?.shapes.get(name)?.bases ?? []).filter((base) => holds(base, member));
    return bases.flatMap((base) => [base, ...basesWith(base, member)]);
  }

  function typesOf(file: string, source: SourceFile, name: string): readonly TypeName[] {
    if (name === "this") return [...source.returns.values()].flat();
    const made = (source.makers.get(name) ?? []).flatMap((maker) => returnsOf(file, source, maker));
    const own = [...(source.typesOfNames.get(name) ?? []), ...made, ...returnsOf(file, source, name)];
    return own.length > 0 ? own : (membersByName.get(name) ?? []);
  }

  function returnsOf(file: string, source: SourceFile, maker: string): readonly TypeName[] {
    const { file: from, name } = source.imports.get(maker) ?? { file, name: maker };
    return files.get(from)?.returns.get(name) ?? [];
  }

  function isCallable(member: Member | undefined): boolean {
    if (member === undefined) return false;
    return (
      member.isFunction || member.types.some(({ file, name }) => files.get(file)?.functionTypes.has(name) === true)
    );
  }

  function holds({ file, name }: TypeName, member: string): boolean {
    const shape = files.get(file)?.shapes.get(name);
    if (shape === undefined) return files.get(file)?.returns.has(name) === true;
    return isCallable(shape.members.get(member)) || shape.bases.some((base) => holds(base, member));
  }
}

function addTo(map: Map<string, Set<string>>, key: string, value: string): void {
  const set = map.get(key) ?? new Set();
  map.set(key, set.add(value));
}
