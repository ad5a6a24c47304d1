// Recordings: asciicast out (G3).

export { CAST_COMMENT, CAST_TYPE, type CastHeader, CastWriter, type CastWriterOptions } from "./cast-writer.ts";
