// The Worker of the authentication tests: the login's routes and nothing else.
import { oauthWay } from "../../src/auth/oauth-way.ts";
import { useAuthentication } from "../../src/auth/way.ts";

export { loginRoutes as default } from "../../src/routes/login.ts";

useAuthentication(oauthWay);
