// What the package offers.

export { compilePattern, MAX_PATTERN_INSTRUCTIONS, MAX_PATTERN_LENGTH, type PatternResult } from "./patterns.ts";
