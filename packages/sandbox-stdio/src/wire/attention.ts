// A program's request for attention (N1).

/** `offset`: the end of the control sequence. Texts are cut and contain no control characters. */
export type Attention = {
  readonly kind: "bell" | "notify";
  readonly title?: string;
  readonly body?: string;
  readonly offset: number;
};
