// The variables that concern recordings (G1), read and checked in one place, and whether a process may be recorded.

import { compilePattern } from "@sbx/api/patterns";
import { CLOSE } from "sandbox-stdio/core";
import type { PatternProgram } from "sandbox-stdio/programs";
import { AuthFault } from "../refusal/fault.ts";
import type { Refusal } from "../refusal/refusal.ts";

export interface RecordingEnv {
  /** Which sessions are recorded: `off`, `ask` (whose start says `record=1`) or `on`. Default: `off`. */
  readonly RECORDING?: string;
  /** Days that output stays in a recording. Default: 7. */
  readonly RECORDING_DAYS?: string;
  /** Bytes of a tenant's recordings in the bucket, or of a session's without one; at least 4 MiB. Default: 1 GiB, or 64 MiB. */
  readonly RECORDING_BYTES?: string;
  /** RE2 expressions, one a line, at most 20, that hide parts of lines. Default: none. */
  readonly RECORDING_REDACT?: string;
  /** Where recordings are kept. Default: in each session's Durable Object. */
  readonly RECORDINGS?: R2Bucket;
}

export type RecordingSettings = {
  readonly mode: "off" | "ask" | "on";
  readonly keptMs: number;
  readonly maxBytes: number;
  readonly patterns: readonly PatternProgram[];
};

const DAY_MS = 24 * 60 * 60_000;
const MOST_DAYS = 3_650;
const MOST_PATTERNS = 20;
const MIB = 1024 * 1024;
/** A segment and the one that makes room for it. */
const LEAST_BYTES = 4 * MIB;

/** @throws {AuthFault} `misconfigured`, naming the variable. */
export function readRecordingSettings(env: RecordingEnv): RecordingSettings {
  const mode = env.RECORDING || "off";
  if (mode !== "off" && mode !== "ask" && mode !== "on") throw wrong('RECORDING must be "off", "ask" or "on"');
  const usualBytes = (env.RECORDINGS === undefined ? 64 : 1024) * MIB;
  return {
    mode,
    keptMs: integer("RECORDING_DAYS", env.RECORDING_DAYS, 1, MOST_DAYS, 7) * DAY_MS,
    maxBytes: integer("RECORDING_BYTES", env.RECORDING_BYTES, LEAST_BYTES, Number.MAX_SAFE_INTEGER, usualBytes),
    patterns: patternsOf(env.RECORDING_REDACT ?? ""),
  };
}

/** Why a process that is to be recorded may not be started. @param record Its start's own word. */
export function recordingRefusal(env: RecordingEnv, record: boolean | undefined): Refusal | undefined {
  if (record !== true || readRecordingSettings(env).mode !== "off") return undefined;
  const message = "this server records no sessions: leave out record, or have RECORDING set to ask or on";
  return { code: CLOSE.forbidden, error: "recording_off", message };
}

/** Each request reads the settings, and compiling takes long. */
let compiled: { readonly text: string; readonly patterns: readonly PatternProgram[] } | undefined;

function patternsOf(text: string): readonly PatternProgram[] {
  if (compiled?.text !== text) compiled = { text, patterns: compiledOf(text) };
  return compiled.patterns;
}

function compiledOf(text: string): PatternProgram[] {
  const sources = text.split("\n").map((line) => line.trim());
  const given = sources.filter((source) => source !== "");
  if (given.length > MOST_PATTERNS) throw wrong(`RECORDING_REDACT has more than ${MOST_PATTERNS} expressions`);
  return given.map((source, i) => {
    const compiled = compilePattern(source);
    // The expression may be as secret as the text that it hides.
    if (!compiled.ok) throw wrong(`RECORDING_REDACT: expression ${i + 1} is no RE2 expression, or too large`);
    return compiled.program;
  });
}

function integer(name: string, text: string | undefined, least: number, most: number, usual: number): number {
  if (!text) return usual;
  const value = /^\d{1,16}$/.test(text) ? Number(text) : Number.NaN;
  if (value >= least && value <= most) return value;
  throw wrong(`${name} must be a number from ${least} to ${most}`);
}

function wrong(message: string): AuthFault {
  return new AuthFault("misconfigured", `This server is not set up: ${message}`);
}
