// The Durable Object's order to the bridge to start a process for a program without attaching (P1 to P4). Sent in a body, so that
// a command may be long. One writer, one reader, and the answer's shape.

import { PROCESS_PARAMS, rowsOf, SIZE_PARAMS } from "../wire/attach-params.ts";
import { commandWords, isName, type ProcessWish, sizeOf } from "../wire/attach-query.ts";
import { MAX_KEEP_SECONDS, MIB } from "../wire/constants.ts";
import { checkOf, defined } from "../wire/fields.ts";
import { parseListings } from "../wire/listing.ts";
import { checkShape, isArrayOf, isBoolean, isInteger, isRecord, isString, type Shape } from "../wire/schema.ts";

/** Most bytes of an order in JSON: a request of 1 MiB with additions, at worst escaped once more. */
export const MAX_ORDER_BYTES = 4 * MIB;
/** Longest word that the kernel accepts, including its NUL. */
export const MAX_WORD_BYTES = 131_072;
/** Most arguments, and most variables, of a process. */
export const MAX_WORDS = 65_536;

export type StartOrder = {
  /** The sandbox's readable name. */
  readonly label: string;
  readonly session: string;
  readonly process: ProcessWish;
  readonly size?: { readonly cols: number; readonly rows: number } | undefined;
  /** Attempt that starts a new process if the one of this name has ended, unless the same attempt has done so already. */
  readonly replace?: string | undefined;
  /** How long the ended process is kept, in seconds. */
  readonly keepExited: number;
  /** The first input in base64, and whether the input ends after it. */
  readonly stdin: string;
  readonly isStdinEnded: boolean;
  /** Whether output waits for the first client even with live delivery. */
  readonly isAwaited?: boolean | undefined;
  /** Which default environment variables the process gets (E3), in codex's format. */
  readonly envPolicy?: Readonly<Record<string, unknown>> | undefined;
};

/** Process parameters that a program may set. */
const GIVEN = rowsOf(PROCESS_PARAMS).filter(({ body }) => body !== undefined);
/** All other parameters are optional. */
const NEEDED: readonly string[] = ["cmd", "args", "tty", "mode", "keep"] satisfies (keyof ProcessWish)[];

const SHAPE: Shape = {
  ...Object.fromEntries(
    [...GIVEN, ...rowsOf(SIZE_PARAMS)].map(({ key, field }) => [
      NEEDED.includes(key) ? key : `${key}?`,
      checkOf(field, MIB, MAX_WORDS),
    ]),
  ),
  label: isString(64),
  session: isString(64),
  env: isArrayOf((item) => (isPair(item) ? undefined : "must be a pair of strings"), MAX_WORDS),
  "replace?": isString(256),
  keepExited: isInteger(0, MAX_KEEP_SECONDS),
  stdin: isString(MAX_ORDER_BYTES),
  isStdinEnded: isBoolean,
  "isAwaited?": isBoolean,
  "envPolicy?": (value) => (isRecord(value) ? undefined : "must be an object"),
};

export function orderBody(order: StartOrder): string {
  const { process, size, ...rest } = order;
  return JSON.stringify({ ...rest, ...process, ...size });
}

/** @returns The order, or its fault. */
export function parseOrder(text: string): StartOrder | { readonly detail: string } {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return { detail: "the body is not JSON" };
  }
  if (!isRecord(value)) return { detail: "the body is not an object" };
  const problem = checkShape(value, SHAPE);
  if (problem !== undefined) return { detail: problem };
  // The cast is safe: the types derive from the table that the shape was checked against.
  type Body = Omit<StartOrder, "process" | "size"> & Omit<ProcessWish, "delivery"> & Partial<ProcessWish>;
  const body = value as unknown as Body & { cols?: number; rows?: number };
  if (!isName(body.label) || !isName(body.session)) return { detail: '"label" and "session" must be names' };
  const { label, session, cols, rows, replace, keepExited, stdin, isStdinEnded, isAwaited, env, delivery } = body;
  const { envPolicy } = body;
  const process = Object.fromEntries(GIVEN.map(({ key }) => [key, value[key]]));
  return {
    ...{ label, session, keepExited, stdin, isStdinEnded },
    process: { ...(defined(process) as Omit<ProcessWish, "env" | "delivery">), env, delivery: delivery ?? "live" },
    ...defined({ size: sizeOf(cols, rows), replace, isAwaited, envPolicy }),
  };
}

/** The fields by which processes count as the same (P2), as one text. */
export function processIdentity(wish: ProcessWish): string {
  const { tty, cwd, env } = wish;
  const variables = Object.entries(Object.fromEntries(env)).sort(([a], [b]) => (a < b ? -1 : 1));
  const others = GIVEN.flatMap(({ key, sameUnless: usual }) => {
    const value = wish[key as keyof ProcessWish];
    return usual === undefined || value === undefined || value === usual ? [] : [[key, value]];
  });
  const words = commandWords(wish) ?? ["bash", ...wish.args];
  return JSON.stringify([...words, tty, cwd ?? "", variables, ...others]);
}

/** The bridge's answer to an order. */
export type Started = {
  readonly incarnation: string;
  readonly createdAt: string;
  readonly isNew: boolean;
  /** Whether it was started with input, or with the end of input. */
  readonly hasInput: boolean;
  readonly state: "running" | "exited";
  readonly offset: number;
};

/** @returns undefined if the text is malformed. */
export function parseStarted(text: string): Started | undefined {
  const listing = parseListings(text)?.[0];
  if (listing === undefined) return undefined;
  const { isNew, hasInput, sessions } = JSON.parse(text) as {
    isNew?: unknown;
    hasInput?: unknown;
    sessions: { createdAt?: unknown }[];
  };
  const createdAt = sessions[0]?.createdAt;
  if (typeof createdAt !== "string" || !/^\d{4}-\d\d-\d\dT[\d:.]{5,16}Z$/.test(createdAt)) return undefined;
  const { incarnation, state, offset } = listing;
  // If a bridge omits it, assume that there was input, so that nothing is typed twice.
  return { incarnation, createdAt, isNew: isNew === true, hasInput: hasInput !== false, state, offset };
}

function isPair(value: unknown): boolean {
  return Array.isArray(value) && value.length === 2 && value.every((text) => typeof text === "string");
}
