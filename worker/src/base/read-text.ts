// The text of a body whose length and pace its sender decides: no more of it than is asked for, and no later.

export type BodyText =
  /** Bytes that are not UTF-8 became U+FFFD in it, unless `isUtf8`. */
  | { readonly kind: "whole"; readonly text: string; readonly isUtf8: boolean }
  /** The body exceeds its limit, or did not arrive in time. `text` is the part that arrived. */
  | { readonly kind: "cut"; readonly text: string; readonly reason: "too_long" | "too_slow" };

/**
 * Bytes of an oversized request that are read and dropped before the answer. Many clients read the answer only when they
 * have sent everything, and would otherwise find a broken connection.
 */
export const REST_BYTES = 32 * 1024 * 1024;

/**
 * Reads a body to its end, to `maxBytes`, or until `patienceMs` have passed; then lets go of the rest.
 * @param restBytes Of a body that is too long, at most so much more is dropped first.
 * @throws {unknown} Where the connection breaks.
 */
export async function readText(
  { body }: Pick<Response, "body">,
  maxBytes: number,
  patienceMs: number,
  restBytes = 0,
): Promise<BodyText> {
  if (body === null) return { kind: "whole", text: "", isUtf8: true };
  const reader = (body as ReadableStream<Uint8Array>).getReader();
  const decoder = new TextDecoder();
  const strict = new TextDecoder("utf-8", { fatal: true, ignoreBOM: false });
  let isUtf8 = true;
  const look = (bytes?: Uint8Array) => {
    try {
      if (isUtf8) strict.decode(bytes, { stream: bytes !== undefined });
    } catch {
      isUtf8 = false; // All that a strict decoder throws.
    }
  };
  let late: (late: "late") => void = () => undefined;
  const isLate = new Promise<"late">((resolve) => {
    late = resolve;
  });
  const timer = setTimeout(() => late("late"), patienceMs);
  let text = "";
  let left = maxBytes;
  try {
    while (true) {
      const next = await Promise.race([reader.read(), isLate]);
      const isTooLong = left < 0;
      if (isTooLong && (next === "late" || next.done)) return { kind: "cut", text, reason: "too_long" };
      if (next === "late") return { kind: "cut", text, reason: "too_slow" };
      if (next.done) {
        look();
        return { kind: "whole", text: text + decoder.decode(), isUtf8 };
      }
      look(next.value);
      if (!isTooLong) text += decoder.decode(next.value.subarray(0, left), { stream: true });
      left -= next.value.length;
      if (left + restBytes < 0) return { kind: "cut", text, reason: "too_long" };
    }
  } finally {
    clearTimeout(timer);
    // Ends the connection that the rest would come on. One that broke has nothing to cancel.
    reader.cancel().catch(() => undefined);
  }
}
