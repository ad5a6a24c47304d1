// Where each of the other products' clients attaches, and what its first words are.
import { type ForeignClient, type ForeignOptions, foreign } from "../clients/foreign-client.ts";
import type { Person } from "../system/system.ts";

type Query = Readonly<Record<string, string | number>>;

const queryOf = (query: Query): string =>
  new URLSearchParams(Object.entries(query).map(([name, value]): [string, string] => [name, String(value)])).toString();

export const addonPath = (sandbox: string, query: Query = {}) => `/ws/terminal?${queryOf({ id: sandbox, ...query })}`;
export const ptyPath = (sandbox: string, query: Query = {}) => `/v1/sandboxes/${sandbox}/exec/pty?${queryOf(query)}`;
export const sharedPath = (sandbox: string, query: Query = {}) =>
  `/v1/sandboxes/${sandbox}/exec/pty/shared?${queryOf(query)}`;
export const jsonPath = (sessionId: string) => `/sandbox/terminal?sessionId=${encodeURIComponent(sessionId)}`;

export async function addon(who: Person, sandbox: string, query: Query = {}): Promise<ForeignClient> {
  const client = await foreign(who, addonPath(sandbox, query));
  await client.message("ready");
  return client;
}

export const pty = (who: Person, sandbox: string, query: Query = {}): Promise<ForeignClient> =>
  foreign(who, ptyPath(sandbox, query));

export async function shared(who: Person, sandbox: string, query: Query = {}): Promise<ForeignClient> {
  const client = await foreign(who, sharedPath(sandbox, query), { protocols: ["pds-pty"] });
  await client.message("hello");
  return client;
}

export async function json(who: Person, sessionId: string, options: ForeignOptions = {}): Promise<ForeignClient> {
  const client = await foreign(who, jsonPath(sessionId), options);
  await client.message("status");
  return client;
}

/** All output that a client of the JSON gateway was told. */
export const jsonOutput = (client: ForeignClient): string =>
  client
    .messages("output")
    .map((message) => String(message.data))
    .join("");

/** Waits until all bytes, or all JSON output, of a client contain this. @returns All of it. */
export async function shows(client: ForeignClient, text: string | RegExp): Promise<string> {
  const all = () => client.bytes().toString() + jsonOutput(client);
  await client.until(`output ${text}`, () => (typeof text === "string" ? all().includes(text) : text.test(all())));
  return all();
}
