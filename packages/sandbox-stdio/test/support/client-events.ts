// A program above the client that does nothing with what it is told.

import type { ClientEvents } from "../../src/index.ts";

const ignore = () => undefined;

export const SILENT: ClientEvents = {
  state: ignore,
  output: ignore,
  snapshot: ignore,
  resize: ignore,
  gap: ignore,
  message: ignore,
  discarded: ignore,
  inputDrained: ignore,
};
