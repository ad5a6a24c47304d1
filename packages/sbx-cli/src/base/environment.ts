// Environment variables of this process, or of a test.

export type Environment = Readonly<Record<string, string | undefined>>;
