// Paths of copied files as latin1 bytes, since a name need not be UTF-8.

export const bytesOfPath = (path: string) => Buffer.from(path, "latin1");
export const pathOf = (text: string) => Buffer.from(text).toString("latin1");

/** Mode of a folder while it is filled. */
export const OWNERS_ALL = 0o700;
