// The settings of a local Worker: the environment of wrangler, and the file of the Worker's own variables.
import { join } from "node:path";
import { childEnv } from "../base/env.ts";
import { CLI_CLIENT_ID, WEB_CLIENT_ID } from "../issuer/tokens.ts";

/** No questions, no messages home, and no files of wrangler outside `dir`. */
export function workerEnv(dir: string, more: Record<string, string> = {}): NodeJS.ProcessEnv {
  return childEnv({
    CI: "1",
    NO_COLOR: "1",
    FORCE_COLOR: "0",
    WRANGLER_SEND_METRICS: "false",
    WRANGLER_SEND_ERROR_REPORTS: "false",
    // The banner looks for a newer version.
    WRANGLER_HIDE_BANNER: "true",
    WRANGLER_LOG_PATH: join(dir, "logs/wrangler"),
    WRANGLER_CACHE_DIR: join(dir, "cache"),
    ...more,
  });
}

/** The variables that every local Worker has. @param system Its `bridgeUrl` is empty where the sandboxes are containers. */
export function workerVars(
  system: { origin: string; issuerUrl: string; bridgeUrl: string; bridgeToken: string },
  sessionSecret: string,
): Record<string, string> {
  const { origin, issuerUrl, bridgeUrl, bridgeToken } = system;
  return {
    BRIDGE_URL: bridgeUrl,
    STDIO_TOKEN: bridgeToken,
    OAUTH_ISSUER: issuerUrl,
    OAUTH_AUDIENCE: `${CLI_CLIENT_ID},${WEB_CLIENT_ID}`,
    OAUTH_CLIENT_ID: WEB_CLIENT_ID,
    PUBLIC_ORIGIN: origin,
    // Browsers lead all names below localhost to this machine.
    PREVIEW_HOST: `*.${new URL(origin).host}`,
    SESSION_SECRET: sessionSecret,
  };
}

/** The text of an env file. @throws {TypeError} For a value that the format can't hold, or that would be expanded. */
export function dotenv(vars: Record<string, string>): string {
  const lines = Object.entries(vars).map(([name, value]) => {
    if (/['$\n]/.test(value)) throw new TypeError(`Cannot pass ${name} to the Worker: it holds a quote, $ or newline`);
    return `${name}='${value}'\n`;
  });
  return lines.join("");
}
