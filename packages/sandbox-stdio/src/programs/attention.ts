// What a program says when it wants to be looked at (N1).

/** `offset`: behind the sequence that said it. Texts are without control characters, and cut. */
export type Attention = {
  readonly kind: "bell" | "notify";
  readonly title?: string;
  readonly body?: string;
  readonly offset: number;
};
