// Where previews are: a host for each of them, which is never the product's own.

import { type EntrySettings, misconfigured } from "../auth/entry-settings.ts";
import { readEntrySettings } from "../auth/provider.ts";

export interface PreviewEnv {
  /** `*.HOST` or `*.HOST:PORT`: the hosts of previews. `npm start` sets `*.localhost:PORT`. Default: no previews. */
  readonly PREVIEW_HOST?: string;
}

export type PreviewSettings = {
  /** What stands behind a label: `.HOST[:PORT]`. */
  readonly suffix: string;
  readonly originOf: (label: string) => string;
};

const LABEL = /^[0-9a-f]{40}$/;

/** A deployment's variables do not change, and every request asks for them. */
const known = new WeakMap<object, PreviewSettings>();

/**
 * @returns undefined where there are no previews.
 * @throws {AuthFault} `misconfigured`.
 */
export function readPreviewSettings(env: PreviewEnv): PreviewSettings | undefined {
  if (!env.PREVIEW_HOST) return undefined;
  let settings = known.get(env);
  if (settings === undefined) {
    settings = parsePreviewHost(env.PREVIEW_HOST, readEntrySettings(env));
    known.set(env, settings);
  }
  return settings;
}

type Hosts = Pick<EntrySettings, "publicOrigin" | "allowedHosts">;

/** @throws {AuthFault} `misconfigured`. */
export function parsePreviewHost(value: string, { publicOrigin, allowedHosts }: Hosts): PreviewSettings {
  const { protocol } = new URL(publicOrigin);
  const url = value.startsWith("*.") ? URL.parse(`${protocol}//label.${value.slice(2)}`) : null;
  if (url === null || url.href !== `${url.origin}/` || url.username !== "" || !/[a-z]$/.test(url.hostname)) {
    throw misconfigured("PREVIEW_HOST must be *.HOST or *.HOST:PORT");
  }
  const suffix = url.host.slice("label".length);
  if (protocol === "http:" && !url.hostname.endsWith(".localhost")) {
    throw misconfigured("PREVIEW_HOST must be below localhost where PUBLIC_ORIGIN is on http");
  }
  if ([...allowedHosts].some((host) => labelIn(host, suffix) !== undefined)) {
    throw misconfigured("PREVIEW_HOST must not cover a host at which this server itself answers");
  }
  return { suffix, originOf: (label) => `${protocol}//${label}${suffix}` };
}

/** @returns The label of the preview that a request is for; undefined for a request to any other host. */
export function requestedLabel(request: Request, { suffix }: PreviewSettings): string | undefined {
  const url = new URL(request.url);
  const header = request.headers.get("Host");
  // The URL is made from the header, unless something between did otherwise: then both must be right.
  const named = header === null ? url.host : URL.parse(`${url.protocol}//${header}`)?.host;
  return named === url.host ? labelIn(url.host, suffix) : undefined;
}

function labelIn(host: string, suffix: string): string | undefined {
  const label = host.endsWith(suffix) ? host.slice(0, -suffix.length) : "";
  return LABEL.test(label) ? label : undefined;
}
