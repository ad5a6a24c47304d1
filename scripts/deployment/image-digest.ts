// Which image a tag names now, as its registry says it (OCI distribution, pull only). Knows no Dockerfile.
import { createHash } from "node:crypto";

/** `docker.io/cloudflare/sandbox:0.12.10@sha256:…`, taken apart. */
export interface ImageName {
  /** As written, without tag and digest. */
  readonly name: string;
  /** The registry's API. */
  readonly registryUrl: string;
  readonly repository: string;
  readonly tag: string;
  /** `sha256:` and 64 hex digits. */
  readonly digest?: string | undefined;
}

/** The registry does not say what it should; the message is for people. */
export class RegistryError extends Error {
  override readonly name = "RegistryError";
}

const DOCKER_HUB = "docker.io";
const LIMIT_MS = 30_000;
const MAX_MANIFEST_BYTES = 4 * 1024 * 1024;
const DIGEST = /^sha256:[0-9a-f]{64}$/;
/** An index first: its digest names the image for every platform. */
const MANIFESTS = [
  "application/vnd.oci.image.index.v1+json",
  "application/vnd.docker.distribution.manifest.list.v2+json",
  "application/vnd.oci.image.manifest.v1+json",
  "application/vnd.docker.distribution.manifest.v2+json",
].join(", ");

/** @param text With the registry's host, and a tag. @throws {RegistryError} For any other name. */
export function parseImage(text: string): ImageName {
  const [, host = "", repository = "", tag = "", digest] =
    /^([a-z0-9.-]+(?::\d+)?)\/([a-z0-9._/-]+):([\w][\w.-]{0,127})(?:@(\S+))?$/.exec(text) ?? [];
  if (host === "" || (digest !== undefined && !DIGEST.test(digest))) {
    throw new RegistryError(`Cannot read the image "${text}": need HOST/REPOSITORY:TAG, perhaps with @sha256:…`);
  }
  const registryUrl = `https://${host === DOCKER_HUB ? "registry-1.docker.io" : host}`;
  return { name: `${host}/${repository}`, registryUrl, repository, tag, digest };
}

/**
 * Asks the registry, with an anonymous token where it wants one.
 * @param registryUrl In place of the image's own: a mirror.
 * @returns `sha256:…`, computed over the registry's bytes.
 * @throws {RegistryError}
 */
export async function digestOf(image: ImageName, registryUrl = image.registryUrl): Promise<string> {
  const url = `${registryUrl.replace(/\/+$/, "")}/v2/${image.repository}/manifests/${image.tag}`;
  let response = await ask(url, { Accept: MANIFESTS });
  if (response.status === 401) {
    const token = await anonymousToken(response.headers.get("WWW-Authenticate") ?? "", url);
    response = await ask(url, { Accept: MANIFESTS, Authorization: `Bearer ${token}` });
  }
  if (!response.ok)
    throw new RegistryError(`Cannot read ${image.name}:${image.tag}: ${url} answered ${response.status}`);
  const manifest = new Uint8Array(await response.arrayBuffer());
  if (manifest.length > MAX_MANIFEST_BYTES) throw new RegistryError(`Cannot read ${url}: ${manifest.length} bytes`);
  const digest = `sha256:${createHash("sha256").update(manifest).digest("hex")}`;
  const claimed = response.headers.get("Docker-Content-Digest");
  if (claimed !== null && claimed !== digest) {
    throw new RegistryError(`Cannot believe ${url}: it says ${claimed} and sent ${digest}`);
  }
  return digest;
}

/** @param challenge `Bearer realm="…",service="…",scope="…"` */
async function anonymousToken(challenge: string, url: string): Promise<string> {
  const parameters = new Map<string, string>();
  for (const [, name = "", value = ""] of challenge.matchAll(/(\w+)="([^"]*)"/g)) parameters.set(name, value);
  const realm = parameters.get("realm") ?? "";
  if (!/^bearer /i.test(challenge) || !URL.canParse(realm)) {
    throw new RegistryError(`Cannot log in at ${url}: it asks for "${challenge}"`);
  }
  const address = new URL(realm);
  for (const name of ["service", "scope"]) {
    const value = parameters.get(name);
    if (value !== undefined) address.searchParams.set(name, value);
  }
  const response = await ask(address.href, {});
  const said: unknown = response.ok ? await response.json() : undefined;
  const { token, access_token: other } = (said ?? {}) as { token?: unknown; access_token?: unknown };
  const given = token ?? other;
  if (typeof given !== "string")
    throw new RegistryError(`Cannot get a token from ${address.origin}: ${response.status}`);
  return given;
}

async function ask(url: string, headers: Record<string, string>): Promise<Response> {
  try {
    return await fetch(url, { headers, signal: AbortSignal.timeout(LIMIT_MS) });
  } catch (error) {
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
    throw new RegistryError(`Cannot reach ${url}: ${cause instanceof Error ? cause.message : String(cause)}`);
  }
}
