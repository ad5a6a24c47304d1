// Paths of copied files: bytes, one a character ("latin1"), since a name need not be UTF-8. And a folder's mode while it is filled.

export const bytesOfPath = (path: string) => Buffer.from(path, "latin1");
export const pathOf = (text: string) => Buffer.from(text).toString("latin1");

/** Of a folder while it is filled. */
export const OWNERS_ALL = 0o700;
