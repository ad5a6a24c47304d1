// The package's exports.

export { openApiDocument } from "./openapi.ts";
export * as processSchemas from "./process-schemas.ts";
export * as recordingSchemas from "./recording-schemas.ts";
export { ROUTES, type Route } from "./routes.ts";
export * as sessionSchemas from "./session-schemas.ts";
export { nearestName, unknownFieldOf, unknownFieldWords } from "./unknown-field.ts";
