// The variables that this process was started with, or a test gives.

export type Environment = Readonly<Record<string, string | undefined>>;
