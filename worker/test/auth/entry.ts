// The Worker of the authentication tests: the login's routes and nothing else.
import { oauthProvider } from "../../src/auth/oauth-provider.ts";
import { useAuthentication } from "../../src/auth/provider.ts";

export { loginRoutes as default } from "../../src/routes/login.ts";

useAuthentication(oauthProvider);
