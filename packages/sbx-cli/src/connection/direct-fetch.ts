// Ignores HTTP_PROXY and its like on every runtime.

type BunRequestInit = RequestInit & { readonly proxy: false };

/**
 * Bun's fetch uses these variables even for this machine; Node's fetch and all WebSockets do not. Calls and attaches of a command
 * must not take different routes.
 */
export function fetchDirectly(): void {
  if (!("Bun" in globalThis)) return;
  const { fetch } = globalThis;
  const direct = (input: string | URL | Request, init?: RequestInit): Promise<Response> => {
    const request: BunRequestInit = { ...init, proxy: false };
    return fetch(input, request);
  };
  globalThis.fetch = Object.assign(direct, fetch);
}

/** The variable with the ignored proxy for this URL, if any. */
export function unusedProxy({ protocol }: URL, env: Readonly<Record<string, string | undefined>>): string | undefined {
  const name = protocol === "https:" ? "HTTPS_PROXY" : "HTTP_PROXY";
  return [name, name.toLowerCase(), "ALL_PROXY", "all_proxy"].find((one) => (env[one] ?? "") !== "");
}
