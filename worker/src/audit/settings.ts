// The variables that concern the audit, read and checked in one place.

import { AuthFault } from "../refusal/fault.ts";

export interface AuditEnv {
  /** What is recorded of input: `content`, `lengths`, or `off` for no record at all. Default: `content`. */
  readonly AUDIT?: string;
  /** How long records are kept: a number with s, m, h or d. Default: `90d`. */
  readonly AUDIT_RETENTION?: string;
  /** `off`: input declared secret (I11) is kept like all other, and clients are told. Default: on. */
  readonly AUDIT_SECRET?: string;
}

export type AuditMode = "content" | "lengths" | "off";
export type AuditSettings = { readonly mode: AuditMode; readonly retentionMs: number; readonly allowsSecret: boolean };

const DEFAULT_RETENTION = "90d";

/** @throws {AuthFault} `misconfigured`, naming the variable. */
export function readAuditSettings(env: AuditEnv): AuditSettings {
  const mode = env.AUDIT || "content";
  if (mode !== "content" && mode !== "lengths" && mode !== "off") {
    throw new AuthFault("misconfigured", 'This server is not set up: AUDIT must be "content", "lengths" or "off"');
  }
  const retentionMs = parseDuration(env.AUDIT_RETENTION || DEFAULT_RETENTION);
  if (retentionMs === undefined) {
    throw new AuthFault(
      "misconfigured",
      "This server is not set up: AUDIT_RETENTION must be like 90d, 12h, 30m or 60s",
    );
  }
  return { mode, retentionMs, allowsSecret: env.AUDIT_SECRET !== "off" };
}

const UNIT_MS: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** Milliseconds of a text like `90d`, `12h`, `30m` or `60s`, at least one second; undefined for any other. */
function parseDuration(text: string): number | undefined {
  const [, count, unit] = /^([1-9]\d{0,8})([smhd])$/.exec(text) ?? [];
  const unitMs = UNIT_MS[unit ?? ""];
  return count === undefined || unitMs === undefined ? undefined : Number(count) * unitMs;
}
