// The part of Node's modules that the Worker uses and its runtime has (`nodejs_compat`). Node's own types would bring globals that
// it has not.

declare module "node:buffer" {
  export class Buffer {
    static from(text: string, encoding: "base64"): Uint8Array<ArrayBuffer>;
    static from(memory: ArrayBufferLike, offset: number, length: number): Buffer;
    static from(text: string, encoding: "base64url"): ArrayLike<number>;
    toString(encoding: "base64" | "base64url"): string;
  }
  export function isUtf8(bytes: Uint8Array): boolean;
}

declare module "node:crypto" {
  export interface Hash {
    update(bytes: Uint8Array | string): Hash;
    digest(encoding: "hex"): string;
  }
  export function createHash(algorithm: "sha256"): Hash;
  export function createHmac(algorithm: "sha256", key: string): Hash;
  /** In hex. */
  export function hash(algorithm: "sha256", content: Uint8Array | string): string;
}

declare module "node:zlib" {
  type Limited = (bytes: Uint8Array, options: { maxOutputLength: number }) => Uint8Array;
  export const constants: { readonly ZSTD_c_compressionLevel: number };
  export function zstdCompressSync(bytes: Uint8Array, options: { params: Record<number, number> }): Uint8Array;
  export const gunzipSync: Limited;
  export const zstdDecompressSync: Limited;
}
