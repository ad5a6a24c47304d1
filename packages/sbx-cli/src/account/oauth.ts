// The parts of oauth.do that are used. A run with a token needs none, so the build puts them into a separate file.

export { configure, createSecureStorage, ensureLoggedIn, getConfig, SecureFileTokenStorage } from "oauth.do/node";
