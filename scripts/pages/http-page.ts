// docs/http.md: the routes for programs, from the OpenAPI document that the Worker serves.
import { openApiDocument } from "../../packages/api/src/index.ts";

interface Schema {
  readonly type?: string | readonly string[];
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly Schema[];
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: Schema | boolean;
  readonly default?: unknown;
  readonly description?: string;
  readonly format?: string;
  readonly contentEncoding?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly maxLength?: number;
  readonly pattern?: string;
}
interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly required?: boolean;
  readonly schema: Schema;
}
interface Body {
  readonly content?: Readonly<Record<string, { readonly schema?: Schema }>>;
}
interface Operation {
  readonly operationId: string;
  readonly summary: string;
  readonly description: string;
  readonly parameters: readonly Parameter[];
  readonly requestBody?: Body;
  readonly responses: Readonly<Record<string, Body>>;
}
type Paths = Readonly<Record<string, Readonly<Record<string, Operation>>>>;

/** Every path begins so: the page says it once. */
const BELOW = "/api/sandboxes/{sandbox}";
const JSON_KIND = "application/json";
/** Where the schemas have no bound of their own. */
const UNBOUNDED = Number.MAX_SAFE_INTEGER;

function typeOf(schema: Schema): string {
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.enum !== undefined) return schema.enum.map((one) => JSON.stringify(one)).join(" | ");
  if (schema.anyOf !== undefined) return schema.anyOf.map(typeOf).join(" | ");
  if (schema.type === "array") return `${typeOf(schema.items ?? {})}[]`;
  if (schema.properties !== undefined) return `{ ${fieldsOf(schema).join(", ")} }`;
  if (schema.type === "object") return "object";
  if (schema.format === "date-time") return "time";
  if (schema.contentEncoding === "base64") return "base64";
  return [schema.type ?? "any"].flat().join(" | ");
}

function fieldsOf({ properties = {}, required = [] }: Schema): string[] {
  return Object.entries(properties).map(([name, schema]) => {
    const optional = required.includes(name) ? "" : "?";
    const type = typeOf(schema);
    return `${name}${optional}${["string", "integer"].includes(type) ? "" : `: ${type}`}`;
  });
}

function notesOf(schema: Schema): string {
  const { minimum: least, maximum: most } = schema;
  const isBounded = least !== undefined && most !== undefined && most < UNBOUNDED;
  const notes = [
    schema.default === undefined ? "" : `default \`${JSON.stringify(schema.default)}\``,
    isBounded ? `${least} to ${most}` : "",
    schema.pattern?.startsWith("^SIG") === true ? "`SIG…`" : "",
    schema.maxLength === undefined ? "" : `at most ${schema.maxLength} characters`,
    schema.description ?? "",
  ];
  return notes.filter((note) => note !== "").join("; ");
}

function row(name: string, isRequired: boolean, schema: Schema): string {
  const type = typeOf(schema);
  // A range says as much.
  const isPlain =
    type === "string" || (type === "integer" && schema.maximum !== undefined && schema.maximum < UNBOUNDED);
  const words = [`- \`${name}\``, ...(isRequired ? ["(required)"] : []), ...(isPlain ? [] : [`\`${type}\``])];
  const notes = notesOf(schema);
  return `${words.join(" ")}${notes === "" ? "" : `: ${notes}`}`;
}

/** @param seen Tables of requests, and types of answers, by the operation that had them first. */
function sectionOf(method: string, path: string, operation: Operation, seen: Map<string, string>): string {
  const { operationId, summary, parameters, requestBody } = operation;
  const query = parameters.filter((one) => one.in === "query");
  const body = requestBody?.content?.[JSON_KIND]?.schema ?? {};
  const rows = [
    ...query.map((one) => row(one.name, one.required === true, one.schema)),
    ...Object.entries(body.properties ?? {}).map(([name, schema]) =>
      row(name, body.required?.includes(name) === true, schema),
    ),
  ];
  const where = query.length > 0 ? "query" : "body";
  const first = (text: string, whole: string) => {
    const by = seen.get(text);
    if (by === undefined) seen.set(text, operationId);
    return by === undefined ? whole : undefined;
  };
  const table = rows.join("\n");
  const base = [...seen].find(([known]) => known.startsWith("-") && table.startsWith(known) && known.includes("\n"));
  const more = base === undefined ? table : table.slice(base[0].length + 1);
  const told = `The ${where}${base === undefined ? "" : ` as *${base[1]}*, and`}:\n\n${more}`;
  const request = rows.length === 0 ? [] : [first(table, told) ?? `The ${where} is that of *${seen.get(table)}*.`];
  return [
    `## ${operationId}`,
    `\`${method.toUpperCase()} ${path}\`. ${summary}. ${operation.description.replace("Needs the scope sandbox:", "Scope ")}`,
    ...request,
    answerOf(operation, first, seen),
  ].join("\n\n");
}

function answerOf(
  { responses }: Operation,
  first: (text: string, whole: string) => string | undefined,
  seen: ReadonlyMap<string, string>,
): string {
  const good = Object.entries(responses).filter(([status]) => status !== "default");
  const statuses = good.map(([status]) => status).join(" or ");
  const kinds = Object.keys(good[0]?.[1].content ?? {});
  const schema = good[0]?.[1].content?.[JSON_KIND]?.schema;
  if (schema === undefined) return `${statuses}.`;
  const others = kinds.filter((kind) => kind !== JSON_KIND).map((kind) => `\`${kind}\``);
  const also = others.length === 0 ? "" : ` By \`Accept\` also ${others.join(" and ")}.`;
  const type = typeOf(schema);
  const listed = [...seen].find(([known]) => known.startsWith("{") && known !== type && type.includes(known));
  const told = listed === undefined ? type : type.replace(listed[0], `*${listed[1]}*`);
  const isTold = told === type ? `\`${type}\`` : told;
  return `${statuses}: ${first(type, isTold) ?? `as *${seen.get(type)}*`}.${also}`;
}

export function httpPage(): string {
  const { paths } = openApiDocument("https://HOST", "") as { paths: Paths };
  const seen = new Map<string, string>();
  const operations = Object.entries(paths)
    .filter(([path]) => !/\/recording|ticket/.test(path))
    .flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => [method, path.replace(BELOW, ""), operation] as const),
    );
  const isFirst = ({ operationId }: Operation) => (operationId === "describe" ? 0 : 1);
  const sections = operations
    .toSorted(([, , a], [, , b]) => isFirst(a) - isFirst(b))
    .map(([method, path, operation]) => sectionOf(method, path, operation, seen));
  return `# HTTP reference

Generated by \`npm run docs\` from the schemas in \`packages/api\`; \`GET /api/openapi.json\` serves it too, with [recordings](operations.md#recordings) and [tickets of codex](programs.md#codex). Paths are below \`/api/sandboxes/{sandbox}\`. The [guide](programs.md) explains it. A field
without a type is a string, in answers or with a range an integer; \`?\` marks optional fields. Every refusal is \`{ error, message }\` with its status.

${sections.join("\n\n")}
`;
}
