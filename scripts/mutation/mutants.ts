// Small changes of a source text, each of which a good test suite must notice. Pure: it is handed the text and its syntax tree.

export interface Mutant {
  /** Offsets into the text, in UTF-16 units. */
  readonly start: number;
  readonly end: number;
  readonly replacement: string;
  /** The kind of change, for the report. */
  readonly kind: string;
  /** The expression, statement or body that a switch chooses instead of the one at these offsets. */
  readonly instead: { readonly from: number; readonly to: number; readonly text: string };
}

/** A node of an ESTree tree with TypeScript, as far as it counts here. */
export interface SyntaxNode {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly [field: string]: unknown;
}

const OPERATORS: Readonly<Record<string, readonly string[]>> = {
  "<": ["<=", ">="],
  "<=": ["<", ">"],
  ">": [">=", "<="],
  ">=": [">", "<"],
  "===": ["!=="],
  "!==": ["==="],
  "+": ["-"],
  "-": ["+"],
  "*": ["/"],
  "/": ["*"],
  "%": ["*"],
  "&": ["|"],
  "|": ["&"],
  "<<": [">>"],
  ">>": ["<<"],
  ">>>": ["<<"],
  "&&": ["||"],
  "||": ["&&"],
  "??": ["&&"],
  "+=": ["-="],
  "-=": ["+="],
  "++": ["--"],
  "--": ["++"],
};

const METHODS: Readonly<Record<string, string>> = {
  min: "max",
  max: "min",
  some: "every",
  every: "some",
  floor: "ceil",
  ceil: "floor",
  startsWith: "endsWith",
  endsWith: "startsWith",
  push: "unshift",
  shift: "pop",
};

/** Kinds of change that replace no expression. */
const NO_EXPRESSION: ReadonlySet<string> = new Set(["statement", "body"]);

/** Never run: types, and what only names another module. */
const NOT_CODE = /^(TS(?!AsExpression|NonNullExpression|SatisfiesExpression)|Import|ExportAll)/;

/** Fields by which a chain of members goes on. */
const CHAINED: ReadonlySet<string> = new Set(["expression", "callee", "object"]);

/** Every change of `text`, in the order of the text. */
export function mutantsOf(text: string, program: SyntaxNode): Mutant[] {
  const found: Mutant[] = [];
  /** @param chain Of optional members, which no bracket may cut in two. */
  const visit = (node: SyntaxNode, chain?: SyntaxNode): void => {
    if (NOT_CODE.test(node.type)) return;
    const whole = node.type === "ChainExpression" ? node : chain;
    found.push(...changesOf(text, node, whole ?? node));
    for (const [field, value] of Object.entries(node))
      for (const child of nodesIn(value)) visit(child, CHAINED.has(field) ? whole : undefined);
  };
  visit(program);
  return found.sort((a, b) => a.start - b.start || a.end - b.end);
}

function nodesIn(value: unknown): SyntaxNode[] {
  if (Array.isArray(value)) return value.flatMap(nodesIn);
  return isNode(value) ? [value] : [];
}

function isNode(value: unknown): value is SyntaxNode {
  return typeof value === "object" && value !== null && "type" in value && typeof value.type === "string";
}

function changesOf(text: string, node: SyntaxNode, whole: SyntaxNode): Mutant[] {
  const replace = (target: SyntaxNode, replacement: string, kind: string, around = target): Mutant => {
    const { start, end } = target;
    const instead = text.slice(around.start, start) + replacement + text.slice(end, around.end);
    return { start, end, replacement, kind, instead: { from: around.start, to: around.end, text: instead } };
  };
  switch (node.type) {
    case "BinaryExpression":
    case "LogicalExpression":
    case "AssignmentExpression":
      return isNode(node.left) && isNode(node.right) ? otherOperators(text, node, node.left, node.right) : [];
    case "UpdateExpression":
      if (!isNode(node.argument)) return [];
      return node.prefix === true
        ? otherOperators(text, node, undefined, node.argument)
        : otherOperators(text, node, node.argument, undefined);
    case "UnaryExpression":
      return node.operator === "!" && isNode(node.argument)
        ? [replace(node, text.slice(node.argument.start, node.argument.end), "negation")]
        : [];
    case "Literal":
      return typeof node.value === "boolean" ? [replace(node, String(!node.value), "boolean")] : [];
    case "IfStatement":
    case "ConditionalExpression":
      return isNode(node.test)
        ? ["true", "false"].map((value) => replace(node.test as SyntaxNode, value, "condition"))
        : [];
    case "WhileStatement":
    case "ForStatement":
      return isNode(node.test) ? [replace(node.test, "false", "loop")] : [];
    case "ExpressionStatement":
      return isNode(node.expression) &&
        /^(Call|Assignment|Update)Expression$|^AwaitExpression$/.test(node.expression.type)
        ? [replace(node, ";", "statement")]
        : [];
    case "FunctionDeclaration":
    case "FunctionExpression":
    case "ArrowFunctionExpression":
      return isNode(node.body) &&
        /^(BlockStatement|FunctionBody)$/.test(node.body.type) &&
        nodesIn(node.body.body).length > 1
        ? [replace(node.body, "{}", "body")]
        : [];
    case "CallExpression":
      return isNode(node.callee) && node.callee.type === "MemberExpression"
        ? otherMethod(node.callee, (target, replacement, kind) => replace(target, replacement, kind, whole))
        : [];
    default:
      return [];
  }
}

/** Between two operands stands the operator, perhaps with blanks, brackets and comments around it. */
function otherOperators(text: string, node: SyntaxNode, left?: SyntaxNode, right?: SyntaxNode): Mutant[] {
  const operator = String(node.operator);
  const at = text.indexOf(operator, left?.end ?? node.start);
  if (at < 0 || at + operator.length > (right?.start ?? node.end)) return [];
  const isPair = node.type === "BinaryExpression" || node.type === "LogicalExpression";
  return (OPERATORS[operator] ?? []).map((replacement) => {
    const [before, after] = [text.slice(node.start, at), text.slice(at + operator.length, node.end)];
    // In brackets, since the other operator may not stand beside that of an operand.
    const instead = isPair ? `(${before}) ${replacement} (${after})` : before + replacement + after;
    return {
      ...{ start: at, end: at + operator.length, replacement, kind: "operator" },
      instead: { from: node.start, to: node.end, text: instead },
    };
  });
}

function otherMethod(
  callee: SyntaxNode,
  replace: (target: SyntaxNode, replacement: string, kind: string) => Mutant,
): Mutant[] {
  const { property } = callee;
  if (!isNode(property) || property.type !== "Identifier") return [];
  const name = String(property.name);
  const other = Object.hasOwn(METHODS, name) ? METHODS[name] : undefined;
  return other === undefined ? [] : [replace(property, other, "method")];
}

/**
 * @param mutants By their numbers.
 * @returns `text` with all of them in it: `is(N)` turns one on, of whatever expression `is` is.
 */
export function withSwitches(text: string, mutants: ReadonlyMap<number, Mutant>, is: string): string {
  const places = new Map<string, [number, Mutant][]>();
  for (const entry of mutants) {
    const { kind, instead } = entry[1];
    const place = `${instead.from} ${instead.to} ${NO_EXPRESSION.has(kind) ? kind : ""}`;
    places.set(place, [...(places.get(place) ?? []), entry]);
  }
  const outerFirst = [...places.values()].map((place) => ({ place, ...firstOf(place) }));
  outerFirst.sort(
    (a, b) => a.from - b.from || b.to - a.to || Number(NO_EXPRESSION.has(b.kind)) - Number(NO_EXPRESSION.has(a.kind)),
  );
  let next = 0;
  const render = (from: number, to: number): string => {
    let [done, out] = [from, ""];
    for (;;) {
      const construct = outerFirst[next];
      if (construct === undefined || construct.from >= to || construct.to > to) break;
      next += 1;
      const { place, number, kind } = construct;
      out += text.slice(done, construct.from);
      const inner = render(construct.from, construct.to);
      if (kind === "statement") out += `{ if (!${is}(${number})) ${inner} }`;
      else if (kind === "body") out += `{ if (${is}(${number})) return; ${inner.slice(1)}`;
      else out += `(${place.map(([id, mutant]) => `${is}(${id}) ? (${mutant.instead.text}) : `).join("")}(${inner}))`;
      done = construct.to;
    }
    return out + text.slice(done, to);
  };
  return render(0, text.length);
}

function firstOf(place: readonly [number, Mutant][]): { number: number; kind: string; from: number; to: number } {
  const [first] = place;
  if (first === undefined) throw new Error("A place without a mutant");
  const [number, { kind, instead }] = first;
  return { number, kind, from: instead.from, to: instead.to };
}
