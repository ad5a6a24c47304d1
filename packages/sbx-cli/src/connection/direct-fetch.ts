// No proxy: what HTTP_PROXY and its like name is not asked, whatever the runtime.

/** Of Bun alone. */
type WithProxy = RequestInit & { readonly proxy: false };

/**
 * Bun's fetch goes by those variables, for servers on this machine too; Node's does not, and a WebSocket on neither. A command whose
 * calls go one way and whose attach goes another would be hard to understand.
 */
export function fetchDirectly(): void {
  if (!("Bun" in globalThis)) return;
  const { fetch } = globalThis;
  const direct = (input: string | URL | Request, init?: RequestInit): Promise<Response> => {
    const wish: WithProxy = { ...init, proxy: false };
    return fetch(input, wish);
  };
  globalThis.fetch = Object.assign(direct, fetch);
}

/** The variable that names a proxy for such an address, which is not asked. */
export function unusedProxy({ protocol }: URL, env: Readonly<Record<string, string | undefined>>): string | undefined {
  const name = protocol === "https:" ? "HTTPS_PROXY" : "HTTP_PROXY";
  return [name, name.toLowerCase(), "ALL_PROXY", "all_proxy"].find((one) => (env[one] ?? "") !== "");
}
