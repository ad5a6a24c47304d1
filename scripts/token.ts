// `npm run --silent token`: prints an access token of the local issuer and nothing else. Needs no running issuer, only
// its key.
import { Command, InvalidArgumentError } from "commander";
import { localDir } from "../packages/local/src/base/paths.ts";
import {
  CLI_CLIENT_ID,
  DEFAULT_TOKEN_SCOPE,
  type TokenRequest,
  tokenMinter,
} from "../packages/local/src/issuer/tokens.ts";
import { DEFAULT_PORT, livingRuns } from "../packages/local/src/system/claim.ts";

/** As the command line's own. */
const WRONG_USAGE = 2;

function wholeSeconds(text: string): number {
  if (!/^-?\d{1,10}$/.test(text)) throw new InvalidArgumentError("Not a whole number of seconds.");
  return Number(text);
}

const command = new Command("npm run --silent token --")
  .description("Prints an access token of the local issuer")
  .option("--sub <user>", "the user", "alice")
  .option("--org <organisation>", 'the claim org_id; "" leaves it out', "local")
  .option("--scope <scopes>", 'space separated; "" leaves the claim out', DEFAULT_TOKEN_SCOPE)
  .option("--expires <seconds>", "lifetime; negative: expired that long ago", wholeSeconds, 3600)
  .option("--aud <client>", "the client that the token is for", CLI_CLIENT_ID)
  .option("--port <port>", "for the npm start whose page has this port (default: PORT, else the newest that runs)")
  .option("--issuer <url>", "the claim iss (default: the running local issuer's)")
  .option("--name <name>", "the claim name (default: from --sub)")
  .option("--email <address>", "the claim email (default: from --sub)")
  .allowExcessArguments(false)
  .exitOverride((error) => process.exit(error.exitCode === 0 ? 0 : WRONG_USAGE));

/** Of the run that is meant, whose issuer has its origin; which one that is stands on standard error where several run and none was named. */
function chosenIssuer(dir: string, { port, issuer }: { port?: string; issuer?: string | undefined }): string {
  const runs = livingRuns(dir);
  const [newest, ...others] = runs.map((origin) => new URL(origin).port);
  const meant = port ?? process.env.PORT;
  const chosen = runs.find((origin) => new URL(origin).port === meant);
  if (chosen !== undefined) return chosen;
  if (port !== undefined) {
    const there = newest === undefined ? "" : `, but at ${[newest, ...others].join(", ")}`;
    command.error(`error: no npm start runs at port ${port}${there}`);
  }
  if (others.length > 0 && issuer === undefined) {
    const options = others.map((other) => `--port ${other}`).join(", ");
    console.error(`for ${runs[0]}, the newest of ${runs.length} that run (another's: ${options})`);
  }
  return runs[0] ?? `http://localhost:${meant || DEFAULT_PORT}`;
}

const flags = command.parse().opts<TokenRequest & { port?: string }>();
const dir = localDir();
const mint = await tokenMinter({ keysDir: dir, issuerUrl: chosenIssuer(dir, flags) });
process.stdout.write(`${await mint(flags)}\n`);
