// What a bridge says first, of a process on pipes that has just started.

export const HELLO = {
  type: "hello",
  protocol: "stdio.inner.v1",
  incarnation: "i1",
  tty: false,
  mode: "collaborative",
  delivery: "lossless",
  cols: 80,
  rows: 24,
  offset: 0,
  live: 0,
  holder: "",
  creator: "",
  cmd: ["cat"],
  createdAt: "2026-01-01T00:00:00.000Z",
  clients: [],
};
