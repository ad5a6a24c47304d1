// How requests are authenticated. The entry file chooses one provider, so that no other is bundled: oauth-provider.ts is ours;
// own-provider.ts makes one of a function that another system's Worker gives.

import type { Authenticated } from "./authenticate.ts";
import type { EntrySettings } from "./entry-settings.ts";
import type { Identity } from "./identity.ts";

export interface AuthProvider {
  /** @throws {AuthFault} `misconfigured`. */
  settings(env: object): EntrySettings;
  /**
   * Identifies the caller; says neither what the caller may do nor whether that was revoked.
   * @param cookieOrigins Origins of the pages that may use a cookie, beside our own.
   * @throws {AuthFault}
   */
  authenticate(request: Request, env: object, cookieOrigins?: ReadonlySet<string>): Promise<Authenticated>;
  /** The owner of a token that was shown on a living connection (T8), or has to be asked about again (T8a). @throws {AuthFault} */
  verify(token: string, env: object): Promise<Identity>;
}

let chosen: AuthProvider | undefined;

/** Called once, by the entry file. */
export function useAuthentication(provider: AuthProvider): void {
  chosen = provider;
}

/** @throws {Error} If the entry file has chosen none. */
export function authProvider(): AuthProvider {
  if (chosen === undefined) throw new Error("the entry file has chosen no authentication provider");
  return chosen;
}

/** @throws {AuthFault} `misconfigured`, naming the variable and never its value. */
export function readEntrySettings(env: object): EntrySettings {
  return authProvider().settings(env);
}
