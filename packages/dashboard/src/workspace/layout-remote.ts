// The server's place for a person's open sessions. Never throws.

import { isRecord } from "sandbox-stdio/core";
import { ask } from "../connection/answers.ts";
import { type Kept, keep, readKept } from "./layout-kept.ts";

export type Remembered = {
  readonly revision: number;
  /** undefined: nothing was ever kept, or by a page of another version. */
  readonly kept: Kept | undefined;
};

export type Keeping =
  | { readonly kind: "kept"; readonly revision: number }
  /** Another device was faster: this is there now. */
  | { readonly kind: "other"; readonly there: Remembered }
  | { readonly kind: "failed" };

export interface LayoutRemote {
  /** @returns undefined where the server can't be asked, or keeps nothing for this person. */
  read(): Promise<Remembered | undefined>;
  /** @param base The revision that it was made from. @param isLast Whether the page is going. */
  keep(kept: Kept, base: number, isLast: boolean): Promise<Keeping>;
}

const PATH = "/api/layout";

export const serverLayouts: LayoutRemote = {
  async read() {
    const answer = await ask("GET", PATH);
    return answer.ok ? remembered(answer.value) : undefined;
  },
  async keep(kept, base, isLast) {
    const answer = await ask("PUT", PATH, { revision: base, layout: keep(kept) }, isLast ? { keepalive: true } : {});
    const there = remembered(answer.value);
    if (answer.ok) return there === undefined ? { kind: "failed" } : { kind: "kept", revision: there.revision };
    return answer.status === 409 && there !== undefined ? { kind: "other", there } : { kind: "failed" };
  },
};

function remembered(value: unknown): Remembered | undefined {
  if (!isRecord(value) || typeof value.revision !== "number") return undefined;
  return { revision: value.revision, kept: readKept(value.layout) };
}
