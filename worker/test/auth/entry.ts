// The Worker of the authentication tests: the login's routes and nothing else.
export { loginRoutes as default } from "../../src/auth/login.ts";
