// A program that signs in with oauth.do's own device flow, as `sbx-stdio login` does. Run by issuer.test.ts in a process
// of its own: `device-login.ts API_URL CLIENT_ID`; HOME says where the token is kept. Prints JSON lines.
import { configure, ensureLoggedIn } from "oauth.do/node";

const [apiUrl = "", clientId = ""] = process.argv.slice(2);
const say = (line: object): void => console.log(JSON.stringify(line));

configure({ apiUrl, clientId });
try {
  const result = await ensureLoggedIn({ openBrowser: false, print: (text) => say({ text }) });
  say({ result });
} catch (error) {
  say({ error: error instanceof Error ? error.message : String(error) });
}
