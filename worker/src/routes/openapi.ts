// The OpenAPI document of the programs' interface. It holds no secret: every caller may read it.

import { openApiDocument } from "@sbx/api";
import { Hono } from "hono";
import { readEntrySettings } from "../auth/provider.ts";

/** Of the interface, as the package says it. */
const VERSION = "0.2.0";

export const openApiRoute = new Hono<{ Bindings: object }>();

openApiRoute.get("/api/openapi.json", (c) => c.json(openApiDocument(readEntrySettings(c.env).linkBase, VERSION)));
