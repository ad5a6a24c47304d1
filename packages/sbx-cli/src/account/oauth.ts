// The used parts of oauth.do. The build puts them into a separate file, which a run with a token does not load.

export { configure, createSecureStorage, ensureLoggedIn, getConfig, SecureFileTokenStorage } from "oauth.do/node";
