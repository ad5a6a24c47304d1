// The OpenAPI document holds what the running system answers: every operation's answers and refusals, field by field.
import Ajv2020 from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import { beforeAll, expect, test } from "vitest";
import { Programs } from "../support/clients/programs.ts";
import { api, person, system } from "../support/system/system.ts";

type Json = Readonly<Record<string, unknown>>;
type Operation = {
  readonly operationId: string;
  readonly parameters: readonly { readonly in: string; readonly name: string }[];
  readonly requestBody?: { readonly content: Json };
  readonly responses: Readonly<Record<string, { readonly content?: Readonly<Record<string, { schema?: Json }>> }>>;
};
type Document = {
  readonly openapi: string;
  readonly servers: readonly { readonly url: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: Json & { readonly schemas: { readonly Error: Json } };
};

const ajv = new Ajv2020({ strict: true, allErrors: true });
addFormats(ajv);
// Not one of JSON Schema's own.
ajv.addFormat("base64", true);
let document: Document;

beforeAll(async () => {
  document = (await (await fetch(`${system.origin}/api/openapi.json`)).json()) as Document;
});

/** The operation behind a request. */
function operationOf(method: string, path: string): Operation {
  const [pathname = ""] = path.split("?");
  for (const [template, methods] of Object.entries(document.paths)) {
    const pattern = new RegExp(`^${template.replace(/\{\w+\}/g, "[^/]+")}$`);
    const operation = methods[method.toLowerCase()];
    if (operation !== undefined && pattern.test(pathname)) return operation;
  }
  throw new Error(`No operation for ${method} ${path}`);
}

/** An answer may have no field that the document does not name. */
function closed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(closed);
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).map(([name, one]) => [name, closed(one)]);
  const isOpen = "properties" in value && !("additionalProperties" in value);
  return { ...Object.fromEntries(entries), ...(isOpen ? { additionalProperties: false } : {}) };
}

const seen = new Set<string>();

/** Asks, and holds the answer against the document. */
async function ask(at: Programs, method: string, rest: string, body?: object, expected?: number): Promise<Json> {
  const path = at.path(rest);
  const operation = operationOf(method, path);
  const query = [...new URLSearchParams(path.split("?")[1] ?? "").keys()];
  const known = operation.parameters.map(({ name }) => name);
  expect([operation.operationId, known]).toEqual([operation.operationId, expect.arrayContaining(query)]);
  const response = await api(at.who, path, { method, ...(body === undefined ? {} : { body: JSON.stringify(body) }) });
  const text = await response.text();
  const { status } = response;
  if (expected !== undefined) expect([method, rest, status, text]).toEqual([method, rest, expected, text]);
  const answer = operation.responses[String(status)] ?? operation.responses.default;
  if (status < 400) expect(Object.keys(operation.responses)).toContain(String(status));
  seen.add(`${operation.operationId} ${status < 400 ? status : "refused"}`);
  if (status === 204) {
    expect([text, answer?.content]).toEqual(["", undefined]);
    return {};
  }
  if (status < 400 && answer?.content?.["application/x-asciicast"] !== undefined) {
    return JSON.parse(text.slice(0, text.indexOf("\n"))) as Json;
  }
  const schema = status < 400 ? answer?.content?.["application/json"]?.schema : document.components.schemas.Error;
  const parsed = JSON.parse(text) as Json;
  const check = ajv.compile(closed(schema) as Json);
  expect([operation.operationId, status, check(parsed), check.errors ?? [], parsed]).toEqual([
    operation.operationId,
    status,
    true,
    [],
    parsed,
  ]);
  return parsed;
}

test("the document is OpenAPI 3.1 for this server, and its schemas compile", () => {
  expect([document.openapi, document.servers]).toEqual(["3.1.0", [{ url: system.origin }]]);
  for (const methods of Object.values(document.paths)) {
    for (const { requestBody } of Object.values(methods)) {
      const body = requestBody?.content["application/json"] as { schema: Json } | undefined;
      if (body !== undefined) expect(ajv.compile(body.schema)).toBeTypeOf("function");
    }
  }
});

/** What is asked of the recording of `sh`. */
async function recordings(
  at: Programs,
  to: (method: string, rest: string, body?: object, status?: number) => Promise<Json>,
) {
  const admin = new Programs(await person({ org: at.who.org, scope: "sandbox:admin sandbox:connect" }), at.sandbox);
  const ofSh = "/sessions/sh/recording";
  expect(await to("GET", `${ofSh}s?limit=3`, undefined, 200)).toMatchObject({ recordings: [{ bytes: 0 }] });
  await to("GET", `${ofSh}s?limit=0`, undefined, 400);
  expect(await to("GET", `${ofSh}?from=0&idleLimit=5`, undefined, 200)).toMatchObject({ version: 3 });
  await to("GET", `${ofSh}?from=never`, undefined, 400);
  await to("GET", `${ofSh}/screen?offset=5&format=json&scrollback=3`, undefined, 200);
  await to("GET", `${ofSh}/screen?time=2020-01-01T00:00:00Z`, undefined, 400);
  expect(await to("GET", `${ofSh}/search?match=done-%5Cd%2B`, undefined, 200)).toMatchObject({ hits: [{}] });
  await to("GET", `${ofSh}/search?match=%28`, undefined, 400);
  await to("POST", `${ofSh}/hold`, { reason: "a case" }, 403);
  await ask(admin, "POST", `${ofSh}/hold`, { reason: "a case" }, 204);
  await to("DELETE", `${ofSh}?all=1`, undefined, 409);
  await to("DELETE", `${ofSh}/hold`, undefined, 403);
  await ask(admin, "DELETE", `${ofSh}/hold`, undefined, 204);
  await to("DELETE", `${ofSh}?all=1`, undefined, 204);
}

test("every operation answers, and refuses, as the document says, with no field that it does not name", async () => {
  const at = new Programs(await person());
  const to = (method: string, rest: string, body?: object, status?: number) => ask(at, method, rest, body, status);
  await to("POST", "/run", { command: "echo out; echo err >&2; exit 3" }, 200);
  await to("POST", "/run", { command: "yes | head -c 3000000", maxBytes: 100 }, 200);
  await to("POST", "/run", { cmd: "cat", stdin: null, waitMs: 0, session: "cat" }, 200);
  await to("POST", "/run", { cmd: "sh", args: ["-c", "kill -9 $$"] }, 200);
  await to("POST", "/run", {}, 400);
  await to("PUT", "/sessions/sh", { cmd: "bash", tty: true, cols: 60, rows: 10, mode: "exclusive", record: true }, 201);
  await to("PUT", "/sessions/sh", { cmd: "bash", tty: true, cols: 60, rows: 10, mode: "exclusive" }, 200);
  await to("PUT", "/sessions/sh", { cmd: "other" }, 409);
  await to("POST", "/sessions", { cmd: "true" }, 201);
  await to("POST", "/sessions", { cmd: "no-such-program" }, 422);
  await to("POST", "/sessions/sh/keyboard", { do: "request" }, 200);
  await to("POST", "/sessions/sh/keyboard", { do: "take" }, 403);
  const typed = await to(
    "POST",
    "/sessions/sh/input",
    { text: "cd /; printf '\\033]2;title\\007'; echo done-$((6*7))", enter: true, at: 0 },
    200,
  );
  await to("POST", "/sessions/sh/input", { text: "again", at: 0 }, 200);
  await to("POST", "/sessions/sh/input", { text: "x", at: 1_000_000 }, 409);
  const match = { until: { match: "done-(\\d+)(x)?" }, from: typed.outputOffset };
  expect(await to("POST", "/sessions/sh/wait", match, 200)).toMatchObject({ outcome: "met" });
  await to("POST", "/sessions/sh/wait", { until: { commandEnd: true }, from: typed.outputOffset }, 200);
  await to("POST", "/sessions/sh/wait", { until: { text: "never" }, timeoutMs: 0 }, 200);
  await to("POST", "/sessions/sh/wait", { until: { match: "(" } }, 400);
  await to("POST", "/sessions/cat/wait", { until: { screen: "x" } }, 409);
  await to("GET", "/sessions/sh/commands", undefined, 200);
  for (const format of ["text", "ansi", "json"]) {
    await to("GET", `/sessions/sh/screen?format=${format}&scrollback=5`, undefined, 200);
  }
  await to("GET", "/sessions/cat/screen", undefined, 409);
  await to("GET", "/sessions/cat/commands", undefined);
  for (const format of ["text", "plain", "base64"])
    await to("GET", `/sessions/sh/output?format=${format}&tail=50`, undefined, 200);
  await to("GET", "/sessions/sh/output?from=99999999", undefined, 400);
  await to("POST", "/sessions/sh/resize", { cols: 70, rows: 20 }, 204);
  await to("POST", "/sessions/cat/resize", { cols: 70, rows: 20 }, 409);
  await to("POST", "/sessions/sh/signal", { signal: "SIGINT" }, 204);
  await to("POST", "/sessions/sh/signal", { signal: "SIGNONE" }, 400);
  await to("GET", "/sessions/sh", undefined, 200);
  await to("GET", "/sessions/none", undefined, 404);
  // A process that does not read takes no more than what lies in its pipe and waits.
  await to("PUT", "/sessions/deaf", { cmd: "sleep", args: ["1000"] }, 201);
  const input = { text: "x".repeat(65_536), waitMs: 100 };
  expect(await to("POST", "/sessions/deaf/input", input)).toBeDefined();
  expect(await to("POST", "/sessions/deaf/input", input, 202)).toBeDefined();
  await to("GET", "/sessions?limit=2", undefined, 200);
  await to("GET", "/sessions?limit=0", undefined, 400);
  await recordings(at, to);
  const { id } = await to("POST", "/codex-ticket", { seconds: 60 }, 200);
  await to("POST", "/codex-ticket", { seconds: 604_801 }, 400);
  expect(await to("GET", "/tickets", undefined, 200)).toMatchObject({ tickets: [{ id }] });
  const viewer = new Programs(await person({ org: at.who.org, scope: "sandbox:connect" }), at.sandbox);
  await ask(viewer, "GET", "/tickets", undefined, 403);
  await to("DELETE", `/tickets/${String(id)}`, undefined, 204);
  await to("DELETE", `/tickets/${String(id)}`, undefined, 404);
  await to("DELETE", "/sessions/sh", undefined, 204);
  await to("DELETE", "/sessions/sh", undefined, 404);
  const operations = Object.values(document.paths).flatMap((methods) => Object.values(methods));
  const all = operations.flatMap(({ operationId, responses }) => [
    ...Object.keys(responses)
      .filter((status) => status !== "default")
      .map((status) => `${operationId} ${status}`),
    `${operationId} refused`,
  ]);
  const never = all.filter((one) => !seen.has(one));
  expect(never).toEqual(["commands refused"]);
});
