// Our own provider: tokens of an OAuth issuer, by header, subprotocol or query, or the cookie of the browser's login.

import { authenticate } from "./authenticate.ts";
import type { AuthProvider } from "./provider.ts";
import { readAuthSettings } from "./settings.ts";
import { verifyToken } from "./verify-token.ts";

export const oauthProvider: AuthProvider = {
  settings: readAuthSettings,
  authenticate: (request, env, cookieOrigins) => authenticate(request, readAuthSettings(env), cookieOrigins),
  verify: (token, env) => verifyToken(token, readAuthSettings(env)),
};
