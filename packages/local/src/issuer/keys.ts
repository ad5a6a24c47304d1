// The local issuer's signing key, made on first use and kept in the run's directory. Knows no HTTP and no claims.
import { join } from "node:path";
import { type CryptoKey, calculateJwkThumbprint, exportJWK, generateKeyPair, importJWK, type JWK } from "jose";
import { readOrCreatePrivateFile } from "../base/files.ts";

export interface SigningKey {
  /** Key id: the thumbprint (RFC 7638) of the public key. */
  readonly kid: string;
  readonly privateKey: CryptoKey;
  readonly privateJwk: JWK;
  /** As the JWKS publishes it: no private member. */
  readonly publicJwk: JWK;
}

/**
 * The RS256 key of the issuer whose files are in `dir`, made there (mode 600) on first use.
 *
 * @throws {Error} If the file is not an RSA private key.
 */
export async function loadSigningKey(dir: string): Promise<SigningKey> {
  const path = join(dir, "issuer-key.json");
  const jwk: JWK = JSON.parse(await readOrCreatePrivateFile(path, newPrivateJwk));
  const { kty, n, e, d } = jwk;
  const key = await importJWK(jwk, "RS256");
  if (kty !== "RSA" || n === undefined || e === undefined || d === undefined || key instanceof Uint8Array) {
    throw new Error(`Cannot use ${path}: not an RSA private key`);
  }
  const kid = await calculateJwkThumbprint({ kty, n, e });
  const more = { kid, alg: "RS256", use: "sig" };
  return { kid, privateKey: key, privateJwk: { ...jwk, ...more }, publicJwk: { kty, n, e, ...more } };
}

async function newPrivateJwk(): Promise<string> {
  const { privateKey } = await generateKeyPair("RS256", { modulusLength: 2048, extractable: true });
  return `${JSON.stringify(await exportJWK(privateKey))}\n`;
}
