// What the bridge is told by its environment.

export type BridgeSettings = {
  readonly hostname: string;
  readonly port: number;
  /** The secret that every request but `/healthz` must show. */
  readonly token: string;
  /** Where each sandbox gets a directory of its own, on a laptop; absent in a container, which is one sandbox. */
  readonly sandboxRoot?: string;
  /** Where a process starts unless its creator says otherwise, in a container. */
  readonly workspace: string;
};

export type SettingsResult =
  | { readonly ok: true; readonly settings: BridgeSettings }
  | { readonly ok: false; readonly problem: string };

/** Below this a secret can be guessed. */
const MIN_TOKEN_LENGTH = 16;

export function readSettings(env: Readonly<Record<string, string | undefined>>): SettingsResult {
  const token = env.STDIO_TOKEN ?? "";
  if (token.length < MIN_TOKEN_LENGTH) {
    return { ok: false, problem: `STDIO_TOKEN must be set, to a secret of at least ${MIN_TOKEN_LENGTH} characters` };
  }
  const port = Number(env.PORT ?? "8080");
  if (!Number.isInteger(port) || port < 0 || port > 65535) {
    return { ok: false, problem: `PORT must be a port number, not "${env.PORT}"` };
  }
  const sandboxRoot = env.SANDBOX_ROOT;
  return {
    ok: true,
    settings: {
      hostname: env.HOST ?? "0.0.0.0",
      port,
      token,
      workspace: env.STDIO_WORKSPACE ?? "/workspace",
      ...(sandboxRoot === undefined ? {} : { sandboxRoot }),
    },
  };
}
