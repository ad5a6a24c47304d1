// The version that `--version` prints: package.json's, which a bundled file does not have beside it.

import { OUTER_PROTOCOL } from "sandbox-stdio/core";

export const VERSION = "0.2.0";

export function versionText(isJson: boolean): string {
  if (!isJson) return `sbx-stdio ${VERSION}, ${OUTER_PROTOCOL}\n`;
  const { bun, node } = process.versions;
  const runtime = bun === undefined ? `node ${node}` : `bun ${bun}`;
  const { platform, arch } = process;
  return `${JSON.stringify({ version: VERSION, protocol: OUTER_PROTOCOL, runtime, platform: `${platform}-${arch}` })}\n`;
}
