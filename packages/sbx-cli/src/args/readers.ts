// Parsers of option values. Each throws what commander turns into a message about the option.

import { type Command, InvalidArgumentError } from "commander";
import { defined, isName } from "sandbox-stdio/core";
import { usage } from "../base/outcome.ts";
import type { ForwardCommand } from "./cli-command.ts";

export function collect(value: string, before: string[] | undefined): string[] {
  return [...(before ?? []), value];
}

export function collectEnv(value: string, before: [string, string][] | undefined): [string, string][] {
  const at = value.indexOf("=");
  if (!/^[A-Za-z_][A-Za-z0-9_]*=/.test(value)) throw new InvalidArgumentError("It must be NAME=VALUE");
  return [...(before ?? []), [value.slice(0, at), value.slice(at + 1)]];
}

export function collectKeys(value: string, before: string[] | undefined): string[] {
  // A comma or space can itself be a key.
  const names = value === "," || value === " " ? [value] : value.split(/[\s,]+/).filter((name) => name !== "");
  return [...(before ?? []), ...names];
}

const COLLECTORS: readonly unknown[] = [collect, collectEnv, collectKeys];

/** Refuses a second value of an option that takes one, which would silently replace the first. */
export function refuseSecondValues(command: Command): void {
  for (const option of command.options) {
    if (!option.required || option.variadic || COLLECTORS.includes(option.parseArg)) continue;
    let first: string | undefined;
    command.on(`option:${option.name()}`, (value: string) => {
      first ??= value;
      if (value !== first) throw usage(`option '${option.flags}' was given twice`);
    });
  }
}

export function readName(value: string): string {
  if (isName(value)) return value;
  throw new InvalidArgumentError(
    "It must be 1 to 64 letters, digits, dots, dashes or underscores, and not start with a dot or dash",
  );
}

/** A whole number within limits. @param what The unit for the message, with a leading space. */
export function readWhole(min: number, max: number, what = ""): (value: string) => number {
  return (value) => {
    const number = /^\d{1,16}$/.test(value) ? Number(value) : Number.NaN;
    if (number >= min && number <= max) return number;
    throw new InvalidArgumentError(`It must be a whole number${what} from ${min} to ${max}`);
  };
}

const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 };

/** A duration in ms: `500ms`, `1.5s`, `5m`. Without a unit, seconds, or milliseconds if seconds would exceed the limit. */
export function readDuration(maxMs: number): (value: string) => number {
  return (value) => {
    const [, number = "", unit] = /^(\d{1,9}(?:\.\d{1,3})?)(ms|s|m|h)?$/.exec(value) ?? [];
    const isInSeconds = Number(number) * 1_000 <= maxMs;
    const ms = Math.round(Number(number || Number.NaN) * (UNITS[unit ?? (isInSeconds ? "s" : "ms")] ?? 1));
    if (ms <= maxMs) return ms;
    throw new InvalidArgumentError(`It must be a duration up to ${maxMs / 1_000}s, such as 500ms, 10s or 2m`);
  };
}

const PORTS = /^(?:(?:([\w.-]+|\[[0-9a-f:]+\]):)?(\d{1,5})?:)?(\d{1,5})$/i;
const MAX_PORT = 65_535;

/** `[[ADDRESS:]LOCAL:]PORT`. LOCAL is PORT by default; 0 or empty is any free port. @throws {CliError} */
export function readPorts(value: string): Pick<ForwardCommand, "local" | "port"> {
  const [, named = "localhost", local, port = ""] = PORTS.exec(value) ?? [];
  const isLocalhost = named === "localhost";
  const address = isLocalhost ? "127.0.0.1" : named.replace(/^\[|\]$/g, "");
  const here = Number(local ?? (value.includes(":") ? 0 : port));
  if (port === "" || Number(port) < 1 || Number(port) > MAX_PORT || here > MAX_PORT) {
    throw usage(
      `invalid port "${value}"; expected [LOCAL:]PORT with ports from 1 to ${MAX_PORT}, such as 8080 or 9000:8080`,
    );
  }
  return { local: { address, port: here, ...defined({ isLocalhost: isLocalhost || undefined }) }, port: Number(port) };
}
