// The words of an answer that is no success: the bridge's own, the platform's, or of what runs in the sandbox in the bridge's place.

const MAX_MESSAGE_CHARACTERS = 1_000;
const CODE = /^\w{1,64}$/;

export type Said = {
  /** The code of the bridge's refusal; undefined for what can't be one. */
  readonly error: string | undefined;
  readonly message: string | undefined;
};

/** @param text Any text: it is read as JSON, and has said nothing if it is none. */
export function readSaid(text: string): Said {
  const { error, message } = readJson(text);
  return {
    error: typeof error === "string" && CODE.test(error) ? error : undefined,
    message: typeof message === "string" ? message.slice(0, MAX_MESSAGE_CHARACTERS) : undefined,
  };
}

function readJson(text: string): { readonly error?: unknown; readonly message?: unknown } {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? value : {};
  } catch {
    return {};
  }
}
