// Stores a person's layout on the server. Never throws.

import { isRecord } from "sandbox-stdio/core";
import { callApi } from "../connection/api.ts";
import { type Kept, keep, readKept } from "./layout-kept.ts";

export type StoredLayout = {
  readonly revision: number;
  /** undefined: nothing stored, or by another version. */
  readonly kept: Kept | undefined;
};

export type SaveResult =
  | { readonly kind: "kept"; readonly revision: number }
  /** Another device has saved meanwhile. */
  | { readonly kind: "other"; readonly there: StoredLayout }
  | { readonly kind: "failed" };

export interface LayoutApi {
  /** @returns undefined if the server fails or stores nothing for this person. */
  read(): Promise<StoredLayout | undefined>;
  /** @param base The revision that the change is based on. @param isLast Whether the page is closing. */
  keep(kept: Kept, base: number, isLast: boolean): Promise<SaveResult>;
}

const PATH = "/api/layout";

export const layoutApi: LayoutApi = {
  async read() {
    const answer = await callApi("GET", PATH);
    return answer.ok ? remembered(answer.value) : undefined;
  },
  async keep(kept, base, isLast) {
    const answer = await callApi(
      "PUT",
      PATH,
      { revision: base, layout: keep(kept) },
      isLast ? { keepalive: true } : {},
    );
    const there = remembered(answer.value);
    if (answer.ok) return there === undefined ? { kind: "failed" } : { kind: "kept", revision: there.revision };
    return answer.status === 409 && there !== undefined ? { kind: "other", there } : { kind: "failed" };
  },
};

function remembered(value: unknown): StoredLayout | undefined {
  if (!isRecord(value) || typeof value.revision !== "number") return undefined;
  return { revision: value.revision, kept: readKept(value.layout) };
}
