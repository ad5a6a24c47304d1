// The text of a body whose length and pace its sender decides: no more of it than is asked for, and no later.

export type BodyText =
  | { readonly kind: "whole"; readonly text: string }
  /** It is longer than it may be, or has not come in time. `text` is the part that came. */
  | { readonly kind: "cut"; readonly text: string; readonly reason: "too_long" | "too_slow" };

/**
 * Reads a body to its end, to `maxBytes`, or until `patienceMs` have passed; then lets go of the rest.
 * @throws {unknown} Where the connection breaks.
 */
export async function readText(
  { body }: Pick<Response, "body">,
  maxBytes: number,
  patienceMs: number,
): Promise<BodyText> {
  if (body === null) return { kind: "whole", text: "" };
  const reader = (body as ReadableStream<Uint8Array>).getReader();
  const decoder = new TextDecoder();
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
      if (next === "late") return { kind: "cut", text, reason: "too_slow" };
      if (next.done) return { kind: "whole", text: text + decoder.decode() };
      text += decoder.decode(next.value.subarray(0, left), { stream: true });
      left -= next.value.length;
      if (left < 0) return { kind: "cut", text, reason: "too_long" };
    }
  } finally {
    clearTimeout(timer);
    // Ends the connection that the rest would come on. One that broke has nothing to cancel.
    reader.cancel().catch(() => undefined);
  }
}
