// Why an operation on files failed, in the words of errno(3).

export class FileError extends Error {
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

const WORDS: Readonly<Record<string, string>> = {
  ENOENT: "no such file or directory",
  ENOTDIR: "not a directory",
  EISDIR: "is a directory",
  EEXIST: "exists already",
  EACCES: "permission denied",
  EPERM: "not permitted",
  ELOOP: "a link took its place, or there are too many links",
  ENOTEMPTY: "the directory is not empty",
  ENOSPC: "no space is left",
  ENAMETOOLONG: "the name is too long",
};

/** @returns Its code, and words that name no descriptor of ours. */
export function fileErrorOf(error: unknown): { readonly code: string; readonly message: string } {
  if (error instanceof FileError) return { code: error.code, message: error.message };
  const code = error instanceof Error && "code" in error ? String(error.code) : "EIO";
  return { code, message: WORDS[code] ?? `it failed: ${code}` };
}
