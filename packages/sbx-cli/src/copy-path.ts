// Paths of copied files: bytes, one a character ("latin1"), since a name need not be UTF-8. And which of a file's mode a copy keeps.

export const bytesOfPath = (path: string) => Buffer.from(path, "latin1");
export const pathOf = (text: string) => Buffer.from(text).toString("latin1");

/** Of a folder while it is filled. */
export const OWNERS_ALL = 0o700;
/** setuid and setgid are never kept: nor is the owner, with whose rights the file would run. */
export const KEPT_MODE = 0o777;
