// Names that nothing else has: of a session that was given none, and of a client.

const NAME_LENGTH = 20;

export function freshName(): string {
  return crypto.randomUUID().replaceAll("-", "").slice(0, NAME_LENGTH);
}
