// Small changes of a source text, each of which a good test suite must notice. Pure: it is handed the text and its syntax tree.

export interface Mutant {
  /** Offsets into the text, in UTF-16 units. */
  readonly start: number;
  readonly end: number;
  readonly replacement: string;
  /** The kind of change, for the report. */
  readonly kind: string;
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

/** Never run: types, and what only names another module. */
const NOT_CODE = /^(TS(?!AsExpression|NonNullExpression|SatisfiesExpression)|Import|ExportAll)/;

/** Every change of `text`, in the order of the text. */
export function mutantsOf(text: string, program: SyntaxNode): Mutant[] {
  const found: Mutant[] = [];
  const visit = (node: SyntaxNode): void => {
    if (NOT_CODE.test(node.type)) return;
    found.push(...changesOf(text, node));
    for (const value of Object.values(node)) for (const child of nodesIn(value)) visit(child);
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

function changesOf(text: string, node: SyntaxNode): Mutant[] {
  const replace = (target: SyntaxNode, replacement: string, kind: string): Mutant => ({
    start: target.start,
    end: target.end,
    replacement,
    kind,
  });
  switch (node.type) {
    case "BinaryExpression":
    case "LogicalExpression":
    case "AssignmentExpression":
      return isNode(node.left) && isNode(node.right) ? otherOperators(text, node, node.left.end, node.right.start) : [];
    case "UpdateExpression":
      if (!isNode(node.argument)) return [];
      return node.prefix === true
        ? otherOperators(text, node, node.start, node.argument.start)
        : otherOperators(text, node, node.argument.end, node.end);
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
      return isNode(node.body) && node.body.type === "BlockStatement" && nodesIn(node.body.body).length > 1
        ? [replace(node.body, "{}", "body")]
        : [];
    case "CallExpression":
      return isNode(node.callee) && node.callee.type === "MemberExpression" ? otherMethod(node.callee, replace) : [];
    default:
      return [];
  }
}

/** Between two operands stands the operator, perhaps with blanks, brackets and comments around it. */
function otherOperators(text: string, node: SyntaxNode, from: number, to: number): Mutant[] {
  const operator = String(node.operator);
  const at = text.indexOf(operator, from);
  if (at < 0 || at + operator.length > to) return [];
  return (OPERATORS[operator] ?? []).map((replacement) => ({
    start: at,
    end: at + operator.length,
    replacement,
    kind: "operator",
  }));
}

function otherMethod(
  callee: SyntaxNode,
  replace: (target: SyntaxNode, replacement: string, kind: string) => Mutant,
): Mutant[] {
  const { property } = callee;
  if (!isNode(property) || property.type !== "Identifier") return [];
  const other = METHODS[String(property.name)];
  return other === undefined ? [] : [replace(property, other, "method")];
}

export function applyMutant(text: string, { start, end, replacement }: Mutant): string {
  return text.slice(0, start) + replacement + text.slice(end);
}
