// The OpenAPI 3.1 document of the programs' interface, made of the table of routes and its schemas.

import * as z from "zod";
import { ROUTES, type Route } from "./routes.ts";

type Json = Record<string, unknown>;

const BELOW = "/api/sandboxes/{sandbox}";
const ERROR = { $ref: "#/components/responses/Error" };

/** Each operation's effect, in a line. */
const SUMMARIES: Readonly<Record<Operation, string>> = {
  list: "The sandbox's sessions, newest first",
  describe: "One session",
  create: "Starts a process under a name, or finds it there",
  createFresh: "Starts a process under a fresh name",
  run: "Runs a process, and answers with its output and exit",
  read: "Output by offset, before and after the exit",
  write: "Types into a session, counted by writer",
  wait: "Waits until something is so",
  screen: "The screen as it is drawn",
  commands: "The commands of a shell, with their exits and the offsets of their output",
  signal: "Sends a signal to the process",
  resize: "Sets the size of the terminal",
  keyboard: "Asks for the keyboard of an exclusive session, gives it back, or takes it",
  recordings: "The recordings under this name, newest first",
  recording: "A recording as an asciicast v3",
  recordedScreen: "The screen at a moment of a recording",
  searchRecording: "The lines of a recording that match",
  removeRecording: "Removes a recording: an admin, or who started the session",
  holdRecording: "Keeps a recording until it is released",
  releaseRecording: "Lets a recording expire again",
  codexTicket: "An address at which codex connects, good for everyone who has it",
  codexTickets: "The tickets of codex that are good now",
  revokeCodexTicket: "Ends a ticket of codex, and what it has opened",
  end: "Ends the process, and forgets the session",
};

type Operation = (typeof ROUTES)[number]["operation"];

/** Statuses of good answers where these are not 200, or 204 for an answer without a body. */
const STATUSES: Readonly<Partial<Record<Operation, readonly number[]>>> = {
  create: [200, 201],
  createFresh: [201],
  write: [200, 202],
};

/** An answer's other kinds besides JSON. */
const OTHER_KINDS: Readonly<Partial<Record<Operation, readonly string[]>>> = {
  read: ["application/octet-stream", "text/event-stream"],
};
/** The kind of an answer that is no JSON. */
const ONLY_KIND: Readonly<Partial<Record<Operation, string>>> = { recording: "application/x-asciicast" };

/** @param origin Where the server is, without a slash at the end. */
export function openApiDocument(origin: string, version: string): Json {
  const paths: Record<string, Json> = {};
  for (const route of ROUTES) {
    const path = `${BELOW}${route.path}`;
    const methods = paths[path] ?? {};
    methods[route.method.toLowerCase()] = operationOf(route.operation, route);
    paths[path] = methods;
  }
  return {
    openapi: "3.1.0",
    info: {
      title: "sbx-stdio: programs and agents",
      version,
      description:
        "Processes in sandboxes by HTTP: run, read, write, wait, see. Offsets count bytes of a session's output.",
    },
    servers: [{ url: origin }],
    security: [{ bearer: [] }],
    paths,
    components: {
      securitySchemes: { bearer: { type: "http", scheme: "bearer" } },
      schemas: { Error: schemaOf(errorAnswer, "output") },
      responses: {
        Error: {
          description: "Refused: the name of the reason, and a sentence. 401, 429 and 503 say more in their headers.",
          content: { "application/json": { schema: { $ref: "#/components/schemas/Error" } } },
        },
      },
    },
  };
}

const errorAnswer = z.looseObject({ error: z.string(), message: z.string() });

function operationOf(operation: Operation, { path, scope, query, body, answer }: Route): Json {
  const inPath = [...`${BELOW}${path}`.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({
    name,
    in: "path",
    required: true,
    schema: { type: "string", maxLength: 64 },
  }));
  const parameters = [...inPath, ...(query === undefined ? [] : queryParameters(query))];
  return {
    operationId: operation,
    summary: SUMMARIES[operation],
    description: `Needs the scope sandbox:${scope}.`,
    parameters,
    ...(body === undefined
      ? {}
      : { requestBody: { required: true, content: { "application/json": { schema: schemaOf(body, "input") } } } }),
    responses: responsesOf(operation, answer),
  };
}

function responsesOf(operation: Operation, answer: z.ZodType | undefined): Json {
  if (answer === undefined) return { 204: { description: "Done" }, default: ERROR };
  const others = (OTHER_KINDS[operation] ?? []).map((kind) => [kind, {}]);
  const kind = ONLY_KIND[operation] ?? "application/json";
  const content = { [kind]: { schema: schemaOf(answer, "output") }, ...Object.fromEntries(others) };
  const statuses = STATUSES[operation] ?? [200];
  const good = statuses.map((status) => [
    status,
    { description: status === 202 ? "Not all of it yet" : "Done", content },
  ]);
  return { ...Object.fromEntries(good), default: ERROR };
}

function queryParameters(query: z.ZodType): Json[] {
  const { properties = {}, required = [] } = schemaOf(query, "input") as {
    properties?: Record<string, Json>;
    required?: string[];
  };
  return Object.entries(properties).map(([name, schema]) => {
    const parameter: Json = { name, in: "query", schema };
    if (required.includes(name)) parameter.required = true;
    return parameter;
  });
}

function schemaOf(schema: z.ZodType, io: "input" | "output"): Json {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, { io, target: "draft-2020-12" });
  return io === "input" ? rest : (open(rest) as Json);
}

/** Answers may have more fields in later versions. */
function open(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(open);
  if (typeof value !== "object" || value === null) return value;
  const isClosed = "properties" in value && "additionalProperties" in value && value.additionalProperties === false;
  const entries = Object.entries(value).filter(([name]) => !(isClosed && name === "additionalProperties"));
  return Object.fromEntries(entries.map(([name, one]) => [name, open(one)]));
}
