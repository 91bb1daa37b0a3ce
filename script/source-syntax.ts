/**
 * One file of src/ as far as its syntax says who may call whom: its functions,
 * what they mention, take and return, and the interfaces beside them. What the
 * mentions mean is for call-graph.ts.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parseAst } from "rolldown/parseAst";
import { targetOf } from "./source-imports.ts";

interface Syntax {
  readonly type: string;
  readonly [key: string]: unknown;
}

/** A type by the name that the file gives it. */
export interface TypeName {
  readonly file: string;
  readonly name: string;
}

export interface Member {
  /** What the member is, or gives when it is called. */
  readonly types: readonly TypeName[];
  readonly isFunction: boolean;
  /** Written as a property that holds a function, as in a bag of parts; an interface to call has methods. */
  readonly isCallback: boolean;
}

export interface Shape {
  readonly members: ReadonlyMap<string, Member>;
  readonly bases: readonly TypeName[];
}

export type Mention =
  | { readonly from: string; readonly name: string }
  | { readonly from: string; readonly member: string; readonly of: string };

export interface SourceFile {
  readonly imports: Map<string, TypeName>;
  readonly shapes: Map<string, Shape>;
  /** What a name of this file stands for, by annotation or by what made it. */
  readonly typesOfNames: Map<string, TypeName[]>;
  /** The same of the fields of its classes, which others reach through an instance. */
  readonly fields: Map<string, TypeName[]>;
  readonly makers: Map<string, string[]>;
  readonly returns: Map<string, TypeName[]>;
  /** Types that a function of this name takes. */
  readonly takes: Map<string, TypeName[]>;
  /** Types of which it makes values. */
  readonly provides: TypeName[];
  /** Type aliases that are functions. */
  readonly functionTypes: Set<string>;
  /** What can be called by its name, and what only as a member. */
  readonly functions: Set<string>;
  readonly members: Set<string>;
  readonly mentions: Mention[];
}

export function readSource(root: string, file: string): SourceFile {
  const text = readFileSync(join(root, file), "utf8");
  const source: SourceFile = {
    imports: new Map(),
    shapes: new Map(),
    typesOfNames: new Map(),
    fields: new Map(),
    makers: new Map(),
    returns: new Map(),
    takes: new Map(),
    provides: [],
    functionTypes: new Set(),
    functions: new Set(),
    members: new Set(),
    mentions: [],
  };
  const tree = parseAst(text, { lang: "ts" }, file) as unknown as Syntax;
  visit(tree, "", null);
  return source;

  function visit(node: Syntax, inside: string, parent: Syntax | null): void {
    switch (node.type) {
      case "ImportDeclaration":
        return readImport(node);
      case "TSInterfaceDeclaration":
        source.shapes.set(nameOf(node["id"]), {
          members: membersOf(listOf(syntaxOf(node["body"])?.["body"])),
          bases: listOf(node["extends"]).flatMap(({ expression }) => typeName(nameOf(expression))),
        });
        return;
      case "TSTypeAliasDeclaration": {
        const literal = syntaxOf(node["typeAnnotation"]);
        if (literal?.type === "TSTypeLiteral")
          source.shapes.set(nameOf(node["id"]), { members: membersOf(listOf(literal["members"])), bases: [] });
        if (literal?.type === "TSFunctionType") source.functionTypes.add(nameOf(node["id"]));
        return;
      }
      case "ClassDeclaration":
        for (const base of listOf(node["implements"])) provide(typeName(nameOf(base["expression"])));
        source.returns.set(nameOf(node["id"]), [{ file, name: nameOf(node["id"]) }]);
        source.functions.add(nameOf(node["id"]));
        children(node, nameOf(node["id"]));
        // `new X(…)` takes what its constructor takes.
        source.takes.set(nameOf(node["id"]), source.takes.get("constructor") ?? []);
        return;
      case "FunctionDeclaration":
        source.functions.add(nameOf(node["id"]));
        return enter(nameOf(node["id"]), node);
      case "MethodDefinition":
        source.members.add(nameOf(node["key"]));
        return enter(nameOf(node["key"]), syntaxOf(node["value"]) ?? node);
      case "PropertyDefinition":
      case "Property": {
        for (const type of annotated(node)) {
          push(source.typesOfNames, nameOf(node["key"]), type);
          if (node.type === "PropertyDefinition") push(source.fields, nameOf(node["key"]), type);
        }
        const value = syntaxOf(node["value"]);
        if (value === null || parent?.type === "ObjectPattern") return children(node, inside);
        source.members.add(nameOf(node["key"]));
        return enter(nameOf(node["key"]), value, inside);
      }
      case "VariableDeclarator": {
        const [id, init] = [syntaxOf(node["id"]), unwrapped(syntaxOf(node["init"]))];
        if (id !== null) annotate(id);
        if (id?.type === "Identifier" && (init?.type === "CallExpression" || init?.type === "NewExpression"))
          push(source.makers, nameOf(id), lastName(syntaxOf(init["callee"])));
        if (id?.type === "Identifier" && init?.type === "ObjectExpression") provide(annotated(id));
        // A constant of the file may hold a table, or what a definition made of functions.
        if (id?.type !== "Identifier" || init === null || !(isFunction(init) || inside === ""))
          return children(node, inside);
        source.functions.add(nameOf(id));
        return enter(nameOf(id), init);
      }
      case "MemberExpression": {
        const receiver = lastName(syntaxOf(node["object"]));
        if (node["computed"] !== true)
          source.mentions.push({ from: inside, member: nameOf(node["property"]), of: receiver });
        const object = syntaxOf(node["object"]);
        if (object !== null) visit(object, inside, node);
        return;
      }
      case "Identifier":
        source.mentions.push({ from: inside, name: nameOf(node) });
        return;
      case "TSTypeAnnotation":
      case "TSTypeParameterInstantiation":
        return;
      default:
        if (isFunction(node)) return readFunction("", node, inside);
        return children(node, inside);
    }
  }

  function children(node: Syntax, inside: string): void {
    for (const [key, value] of Object.entries(node)) {
      if (key === "key" || key === "typeAnnotation") continue;
      for (const child of Array.isArray(value) ? value : [value]) {
        const syntax = syntaxOf(child);
        if (syntax !== null) visit(syntax, inside, node);
      }
    }
  }

  /** A function with a name of its own, or a property that stands for one. */
  function enter(name: string, node: Syntax, outer = ""): void {
    if (isFunction(node)) return readFunction(name, node, name);
    visit(node, name, null);
    // What a property holds is also a matter of who wrote it down.
    if (outer !== "" && outer !== name && node.type !== "Identifier") visit(node, outer, null);
  }

  function readFunction(name: string, node: Syntax, inside: string): void {
    const taken = listOf(node["params"]).flatMap((parameter) => {
      annotate(parameter);
      return annotated(parameter);
    });
    const literals = listOf(node["params"])
      .map(typeOf)
      .filter((type) => type?.type === "TSTypeLiteral");
    for (const literal of name === "" ? [] : literals) {
      const parts = `parameter of ${name}`;
      source.shapes.set(parts, { members: membersOf(listOf(literal?.["members"])), bases: [] });
      push(source.takes, name, { file, name: parts });
    }
    if (name !== "") {
      source.takes.set(name, [...(source.takes.get(name) ?? []), ...taken]);
      const returned = typesIn(syntaxOf(syntaxOf(node["returnType"])?.["typeAnnotation"]));
      source.returns.set(name, [...(source.returns.get(name) ?? []), ...returned]);
      provide(returned);
    }
    children({ type: "Function", params: node["params"], body: node["body"] }, inside);
  }

  function readImport(node: Syntax): void {
    const from = targetOf(file, String(syntaxOf(node["source"])?.["value"]));
    if (from === null) return;
    for (const specifier of listOf(node["specifiers"]))
      source.imports.set(nameOf(specifier["local"]), { file: from, name: nameOf(specifier["imported"]) });
  }

  function membersOf(nodes: readonly Syntax[]): ReadonlyMap<string, Member> {
    const members = new Map<string, Member>();
    for (const node of nodes) {
      const annotation = syntaxOf(syntaxOf(node["typeAnnotation"])?.["typeAnnotation"]);
      const isMethod = node.type === "TSMethodSignature" || annotation?.type === "TSFunctionType";
      const result = node.type === "TSMethodSignature" ? node["returnType"] : annotation?.["returnType"];
      const given = isMethod ? syntaxOf(syntaxOf(result)?.["typeAnnotation"]) : annotation;
      const types = typesIn(given);
      const name = nameOf(node["key"]);
      members.set(name, { types, isFunction: isMethod, isCallback: isMethod && node.type === "TSPropertySignature" });
      for (const type of types) push(source.typesOfNames, name, type);
    }
    return members;
  }

  /** Those in `Promise<T>`, `T | null` and lists too. */
  function typesIn(node: Syntax | null): readonly TypeName[] {
    if (node === null) return [];
    if (node.type === "TSTypeReference") {
      const inner = listOf(syntaxOf(node["typeArguments"])?.["params"]).flatMap(typesIn);
      return [...typeName(nameOf(node["typeName"])), ...inner];
    }
    if (node.type === "TSUnionType" || node.type === "TSIntersectionType")
      return listOf(node["types"]).flatMap(typesIn);
    return [];
  }

  function typeName(name: string): readonly TypeName[] {
    return name === "" ? [] : [source.imports.get(name) ?? { file, name }];
  }

  function annotated(node: Syntax): readonly TypeName[] {
    return typesIn(typeOf(node));
  }

  function annotate(node: Syntax): void {
    for (const type of annotated(node)) if (node.type === "Identifier") push(source.typesOfNames, nameOf(node), type);
    const literal = typeOf(node);
    if (literal?.type === "TSTypeLiteral") membersOf(listOf(literal["members"]));
  }

  function provide(types: readonly TypeName[]): void {
    source.provides.push(...types);
  }
}

function typeOf(parameter: Syntax): Syntax | null {
  const target = parameter.type === "AssignmentPattern" ? syntaxOf(parameter["left"]) : parameter;
  return syntaxOf(syntaxOf(target?.["typeAnnotation"])?.["typeAnnotation"]);
}

function isFunction(node: Syntax | null): boolean {
  return (
    node?.type === "ArrowFunctionExpression" ||
    node?.type === "FunctionExpression" ||
    node?.type === "FunctionDeclaration"
  );
}

/** `a.b.c` → c, `a.b()` → b, `await x` → x. */
function lastName(node: Syntax | null): string {
  const plain = unwrapped(node);
  if (plain === null) return "";
  if (plain.type === "ThisExpression") return "this";
  if (plain.type === "MemberExpression") return nameOf(plain["property"]);
  if (plain.type === "CallExpression") return lastName(syntaxOf(plain["callee"]));
  return nameOf(plain);
}

function unwrapped(node: Syntax | null): Syntax | null {
  switch (node?.type) {
    case "AwaitExpression":
      return unwrapped(syntaxOf(node["argument"]));
    case "ChainExpression":
    case "TSAsExpression":
    case "TSSatisfiesExpression":
    case "ParenthesizedExpression":
      return unwrapped(syntaxOf(node["expression"]));
    default:
      return node;
  }
}

function nameOf(value: unknown): string {
  const node = syntaxOf(value);
  const name = node?.["name"] ?? node?.["value"];
  if (node?.type === "PrivateIdentifier") return `#${String(name)}`;
  return typeof name === "string" ? name : "";
}

function syntaxOf(value: unknown): Syntax | null {
  return typeof value === "object" && value !== null && "type" in value ? (value as Syntax) : null;
}

function listOf(value: unknown): readonly Syntax[] {
  return Array.isArray(value) ? value.flatMap((entry) => syntaxOf(entry) ?? []) : [];
}

export function push<V>(map: Map<string, V[]>, key: string, value: V): void {
  map.set(key, [...(map.get(key) ?? []), value]);
}
