// The package's exports.

export { openApiDocument } from "./openapi.ts";
export { compilePattern, MAX_PATTERN_INSTRUCTIONS, MAX_PATTERN_LENGTH, type PatternResult } from "./patterns.ts";
export * as processSchemas from "./process-schemas.ts";
export * as recordingSchemas from "./recording-schemas.ts";
export { ROUTES, type Route, type Scope } from "./routes.ts";
export * as sessionSchemas from "./session-schemas.ts";
export { nearestName, type UnknownField, unknownFieldOf, unknownFieldWords } from "./unknown-field.ts";
