// What programs without a WebSocket need of a session (D, U, W, T), apart from sockets and clocks.

export { encodeEnter, encodeKeys, encodePaste, type InputModes, type KeysResult } from "./keys.ts";
export { EMPTY, OP, PatternMachine, type PatternProgram, type PatternState, type Slots } from "./pattern.ts";
export { PlainMap, type PlainRun } from "./plain-runs.ts";
export { MAX_PLAIN_LINE, type PlainChange, PlainText, plainTextOf } from "./plain-text.ts";
export {
  OutputSearch,
  SEARCHED_UNITS,
  type SearchMatch,
  type SearchProgress,
  type SearchTarget,
} from "./search.ts";
