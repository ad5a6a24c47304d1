// The environment that children get: the user's own, without what npm, the bootstrap and test runners add to it.
import { delimiter, join } from "node:path";

const OURS = /^(npm_|NODE_CHANNEL_|VITEST|INIT_CWD$|NODE$|TEST$|NODE_ENV$)/;

function isOurPathEntry(entry: string): boolean {
  return entry.endsWith(join("node_modules", ".bin")) || entry.endsWith("node-gyp-bin");
}

/** `process.env` as it was before `npm run`, with `extra` on top. Sandboxes must not find the project's tools in PATH. */
export function childEnv(extra: Record<string, string> = {}): NodeJS.ProcessEnv {
  const env: NodeJS.ProcessEnv = {};
  for (const [name, value] of Object.entries(process.env)) {
    if (!OURS.test(name)) env[name] = value;
  }
  const path = (env.PATH ?? "").split(delimiter).filter((entry) => !isOurPathEntry(entry));
  return { ...env, PATH: path.join(delimiter), ...extra };
}
