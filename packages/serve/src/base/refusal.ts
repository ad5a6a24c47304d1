// What a person asked for can't be done; the message says what to do instead.

export class ServeError extends Error {
  override readonly name = "ServeError";
}
