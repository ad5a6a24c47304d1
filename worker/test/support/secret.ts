// What the Worker of these tests and a bridge that they start both know.

/** The deployment's secret, as these objects know it. */
export const STDIO_TOKEN = "a secret of 16 and more";
