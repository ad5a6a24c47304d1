// Why an operation on files failed, in the words of errno(3).

export class FileError extends Error {
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

/** @returns Its code, and the system's words without the path, which would name descriptors of ours. */
export function fileErrorOf(error: unknown): { readonly code: string; readonly message: string } {
  if (error instanceof FileError) return { code: error.code, message: error.message };
  if (!(error instanceof Error && "code" in error)) return { code: "EIO", message: "it failed" };
  const [, words = "it failed"] = /^[A-Z0-9]+: ([^,]+)/.exec(error.message) ?? [];
  return { code: String(error.code), message: words };
}
