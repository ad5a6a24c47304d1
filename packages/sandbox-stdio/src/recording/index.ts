// Recordings: asciicast in and out (G3), and ALiS (G7).

export { NEW_LINE_MODE } from "./alis.ts";
export { type CastEvent, CastFault, type CastInfo, CastReader } from "./cast-reader.ts";
export { CAST_COMMENT, CAST_TYPE, type CastHeader, CastWriter, type CastWriterOptions } from "./cast-writer.ts";
