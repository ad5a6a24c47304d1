// The OpenAPI document of the sandbox API (V1). Its version is the contract's, and not that of this server.

import { z } from "zod";
import { createBody, execBody, sessionBody } from "./body.ts";

const CONTRACT = "1.0.0";
const BYTES = "application/octet-stream";

type Operation = {
  readonly does: string;
  readonly body?: z.ZodType | "bytes";
  /** The kind of a good answer; absent: 204. */
  readonly answer?: string;
  readonly status?: number;
  readonly query?: readonly string[];
};

const OPERATIONS: Readonly<Record<string, Operation>> = {
  "post /v1/sandbox": { does: "Makes a sandbox, and starts nothing", body: createBody, answer: "application/json" },
  "delete /v1/sandbox/{id}": { does: "Ends the sandbox with all that runs in it" },
  "get /v1/sandbox/{id}/running": { does: "Whether its container runs", answer: "application/json" },
  "post /v1/sandbox/{id}/exec": {
    does: "Runs a process: events stdout and stderr (base64), then exit or error",
    body: execBody,
    answer: "text/event-stream",
  },
  "post /v1/sandbox/{id}/session": {
    does: "Makes a session: execs with its id in the header Session-Id share directory and environment",
    body: sessionBody,
    answer: "application/json",
  },
  "delete /v1/sandbox/{id}/session/{session}": { does: "Forgets a session" },
  "get /v1/sandbox/{id}/file/{path}": { does: "A file below /workspace or /tmp", answer: BYTES },
  "put /v1/sandbox/{id}/file/{path}": { does: "Writes it, at most 32 MiB", body: "bytes", answer: "application/json" },
  "post /v1/sandbox/{id}/persist": { does: "/workspace as a tar archive", answer: BYTES, query: ["excludes"] },
  "post /v1/sandbox/{id}/hydrate": { does: "Unpacks one into /workspace", body: "bytes", answer: "application/json" },
  "get /v1/sandbox/{id}/pty": {
    does: "A terminal, as a WebSocket",
    status: 101,
    query: ["cols", "rows", "shell", "session", "authorization"],
  },
};

const error = z.object({ error: z.string(), code: z.string() });

/** @param origin Where the server is, without a slash at the end. */
export function openApi(origin: string): object {
  const paths: Record<string, Record<string, object>> = {};
  for (const [key, operation] of Object.entries(OPERATIONS)) {
    const [method = "", path = ""] = key.split(" ");
    paths[path] = { ...paths[path], [method]: described(path, operation) };
  }
  return {
    openapi: "3.1.0",
    info: { title: "Sandboxes for agents", version: CONTRACT, description: "For clients of Cloudflare's bridge." },
    servers: [{ url: origin }],
    security: [{ bearer: [] }],
    paths,
    components: { securitySchemes: { bearer: { type: "http", scheme: "bearer" } } },
  };
}

function described(path: string, { does, body, answer, status, query = [] }: Operation): object {
  const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({ name, in: "path", required: true }));
  const parameters = [...inPath, ...query.map((name) => ({ name, in: "query" }))];
  const content = (kind: string, schema: object = {}) => ({ content: { [kind]: schema } });
  const good = answer === undefined ? {} : content(answer);
  const asked = body === "bytes" ? content(BYTES) : body && content("application/json", { schema: schemaOf(body) });
  return {
    summary: does,
    parameters: parameters.map((one) => ({ ...one, schema: { type: "string" } })),
    ...(asked === undefined ? {} : { requestBody: asked }),
    responses: {
      [status ?? (answer === undefined ? 204 : 200)]: { description: "Done", ...good },
      default: { description: "Refused", ...content("application/json", { schema: schemaOf(error) }) },
    },
  };
}

function schemaOf(schema: z.ZodType): object {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, { io: "input" });
  return rest;
}
