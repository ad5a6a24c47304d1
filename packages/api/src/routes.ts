// The table of routes (section 1 of the contract): method, path, scope, and the schemas of request and answer. Routes, MCP tools
// and the OpenAPI document are made of it.

import * as z from "zod";
import { createRequest, description, listAnswer, runAnswer, runRequest } from "./process-schemas.ts";
import * as recording from "./recording-schemas.ts";
import * as session from "./session-schemas.ts";

export type Scope = "connect" | "exec" | "admin";

export type Route = {
  readonly operation: string;
  readonly method: "GET" | "PUT" | "POST" | "DELETE";
  /** Below `/api/sandboxes/SANDBOX`. */
  readonly path: string;
  /** A keyboard that is taken needs `admin` besides. */
  readonly scope: Scope;
  readonly query?: z.ZodType;
  readonly body?: z.ZodType;
  /** Absent: 204. */
  readonly answer?: z.ZodType;
};

const time = z.iso.datetime();

export const ROUTES = [
  {
    operation: "list",
    method: "GET",
    path: "/sessions",
    scope: "connect",
    query: session.listQuery,
    answer: listAnswer,
  },
  {
    operation: "describe",
    method: "GET",
    path: "/sessions/{name}",
    scope: "connect",
    query: session.namedQuery,
    answer: description,
  },
  {
    operation: "create",
    method: "PUT",
    path: "/sessions/{name}",
    scope: "exec",
    body: createRequest,
    answer: description,
  },
  {
    operation: "createFresh",
    method: "POST",
    path: "/sessions",
    scope: "exec",
    body: createRequest,
    answer: description,
  },
  { operation: "run", method: "POST", path: "/run", scope: "exec", body: runRequest, answer: runAnswer },
  {
    operation: "read",
    method: "GET",
    path: "/sessions/{name}/output",
    scope: "connect",
    query: session.readQuery,
    answer: session.readAnswer,
  },
  {
    operation: "write",
    method: "POST",
    path: "/sessions/{name}/input",
    scope: "exec",
    body: session.writeRequest,
    answer: session.writeAnswer,
  },
  {
    operation: "wait",
    method: "POST",
    path: "/sessions/{name}/wait",
    scope: "connect",
    body: session.waitRequest,
    answer: session.waitAnswer,
  },
  {
    operation: "screen",
    method: "GET",
    path: "/sessions/{name}/screen",
    scope: "connect",
    query: session.screenQuery,
    answer: session.screenAnswer,
  },
  {
    operation: "commands",
    method: "GET",
    path: "/sessions/{name}/commands",
    scope: "connect",
    query: session.commandsQuery,
    answer: session.commandsAnswer,
  },
  { operation: "signal", method: "POST", path: "/sessions/{name}/signal", scope: "exec", body: session.signalRequest },
  { operation: "resize", method: "POST", path: "/sessions/{name}/resize", scope: "exec", body: session.resizeRequest },
  {
    operation: "keyboard",
    method: "POST",
    path: "/sessions/{name}/keyboard",
    scope: "exec",
    body: session.keyboardRequest,
    answer: session.keyboardAnswer,
  },
  {
    operation: "recordings",
    method: "GET",
    path: "/sessions/{name}/recordings",
    scope: "connect",
    query: recording.recordingsQuery,
    answer: recording.recordingsAnswer,
  },
  {
    operation: "recording",
    method: "GET",
    path: "/sessions/{name}/recording",
    scope: "connect",
    query: recording.castQuery,
    answer: recording.cast,
  },
  {
    operation: "recordedScreen",
    method: "GET",
    path: "/sessions/{name}/recording/screen",
    scope: "connect",
    query: recording.momentQuery,
    answer: recording.momentAnswer,
  },
  {
    operation: "searchRecording",
    method: "GET",
    path: "/sessions/{name}/recording/search",
    scope: "connect",
    query: recording.searchQuery,
    answer: recording.searchAnswer,
  },
  {
    operation: "removeRecording",
    method: "DELETE",
    path: "/sessions/{name}/recording",
    scope: "connect",
    query: recording.removalQuery,
  },
  {
    operation: "holdRecording",
    method: "POST",
    path: "/sessions/{name}/recording/hold",
    scope: "admin",
    body: recording.holdRequest,
  },
  {
    operation: "releaseRecording",
    method: "DELETE",
    path: "/sessions/{name}/recording/hold",
    scope: "admin",
    query: recording.releaseQuery,
  },
  {
    operation: "codexTicket",
    method: "POST",
    path: "/codex-ticket",
    scope: "exec",
    body: z.strictObject({ seconds: z.int().min(1).max(604_800).default(86_400) }),
    answer: z.object({ id: z.string(), url: z.string(), expiresAt: time }),
  },
  {
    operation: "codexTickets",
    method: "GET",
    path: "/tickets",
    scope: "exec",
    answer: z.object({
      tickets: z.array(
        z.object({ id: z.string(), kind: z.literal("codex"), maker: z.string(), createdAt: time, expiresAt: time }),
      ),
    }),
  },
  { operation: "revokeCodexTicket", method: "DELETE", path: "/tickets/{ticket}", scope: "exec" },
  { operation: "end", method: "DELETE", path: "/sessions/{name}", scope: "exec", query: session.namedQuery },
] as const satisfies readonly Route[];
