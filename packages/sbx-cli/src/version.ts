// The version that `--version` prints: that of package.json, which a single bundled file has not got beside it.

export const VERSION = "0.1.0";
