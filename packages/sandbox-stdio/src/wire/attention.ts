// The message of a program that wants attention (N1).

/** `offset`: behind the sequence that said it. Texts are without control characters, and cut. */
export type Attention = {
  readonly kind: "bell" | "notify";
  readonly title?: string;
  readonly body?: string;
  readonly offset: number;
};
